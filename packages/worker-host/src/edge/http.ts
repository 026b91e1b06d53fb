import { apartFromPage, encodeBase64, GatheredBytes } from "@keyhole/kernel/foreign";
import { parseJson } from "@keyhole/kernel";
import type { EdgeSettings } from "./address.ts";
import { mostOfEdge, tooMuch } from "./bounds.ts";
import { EdgeFault, unknownEnd } from "./fault.ts";
import { hurried, inTime, unlessAborted } from "./in-time.ts";
import { readProblem } from "./wire.ts";

export interface EdgeTransport {
  /** Default: the platform's. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** Milliseconds for an answer that is no call, and between two pieces of the answer of a call. An edge sends something every second. Default 30,000. */
  readonly silenceMs?: number;
}

const defaultSilenceMs = 30_000;

interface Sent extends Omit<RequestInit, "headers"> {
  readonly headers?: Readonly<Record<string, string>>;
}

/** One edge, with its token. Every failure is an {@link EdgeFault}. */
export class Edge {
  readonly #address: string;
  readonly #authorization: string;
  readonly #send: NonNullable<EdgeTransport["fetch"]>;
  readonly silenceMs: number;

  constructor({ address, token }: EdgeSettings, { fetch: send, silenceMs = defaultSilenceMs }: EdgeTransport = {}) {
    this.#address = address;
    this.#authorization = `Bearer ${token}`;
    this.#send = send ?? ((url, init) => fetch(url, init));
    this.silenceMs = silenceMs;
  }

  async get(path: string): Promise<unknown> {
    return this.#json(await this.#fetch(path, {}));
  }

  /** `undefined` where the token may not read it. */
  async optional(path: string): Promise<unknown> {
    return this.get(path).catch(() => undefined);
  }

  /** @throws {EdgeFault} */
  async post(path: string, body: unknown, expectedStatus?: number): Promise<unknown> {
    return this.#json(await this.#fetch(path, posted(body), expectedStatus));
  }

  /** @throws {EdgeFault} */
  async put(path: string, body: unknown): Promise<unknown> {
    return this.#json(await this.#fetch(path, { ...posted(body), method: "PUT" }));
  }

  /** Whether the edge had it: a post that is answered with nothing. */
  async tell(path: string, body: unknown, signal?: AbortSignal): Promise<boolean> {
    const { status } = await this.#fetch(path, { ...posted(body), ...(signal && { signal }) }, 404);
    return status !== 404;
  }

  /** Whether the edge had it. */
  async remove(path: string): Promise<boolean> {
    const { status } = await this.#fetch(path, { method: "DELETE" }, 404);
    return status !== 404;
  }

  /**
   * A call, answered as a stream.
   *
   * @param bytes the body of a call, whose JSON goes into a header then
   * @throws {EdgeFault} also for an answer that is no stream
   */
  async call(
    path: string,
    body: unknown,
    { signal, bytes, headers: more }: { signal: AbortSignal; bytes?: Blob | undefined; headers?: Sent["headers"] },
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    const headers = { ...more, accept: "text/event-stream" };
    const json = JSON.stringify(body);
    const sent = bytes
      ? {
          ...headers,
          "content-type": "application/octet-stream",
          "keyhole-call": `:${encodeBase64(new TextEncoder().encode(json))}:`,
        }
      : { ...headers, "content-type": "application/json" };
    const init = { method: "POST", headers: sent, body: bytes ?? json, signal };
    // How long a body travels is for the caller to bound, by the signal.
    const request = this.#request(path, init, undefined, (error) => this.#lost(error));
    const response = await (bytes ? request : inTime(request, this.silenceMs));
    if (isOfType(response, "text/event-stream") && response.body) return response.body;
    await response.body?.cancel().catch(() => {});
    throw this.#other("did not answer the call with a stream of events");
  }

  #unreachable(): EdgeFault {
    const hint = "Is it running, and does it allow this origin? Check its address and token.";
    return new EdgeFault("EDGE_UNREACHABLE", `The edge at ${this.#address} does not answer.`, hint);
  }

  /** The request of a call can have arrived, unless there was no connection. Browsers do not say. */
  #lost(error: unknown): EdgeFault {
    const cause = error instanceof Error ? error.cause : undefined;
    const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
    if (noConnection.includes(code)) return this.#unreachable();
    return unknownEnd(`The connection to ${this.#address} broke before the edge answered the call.`);
  }

  #fetch(path: string, init: Sent, expectedStatus?: number): Promise<Response> {
    return inTime(this.#request(path, init, expectedStatus), this.silenceMs);
  }

  async #request(
    path: string,
    { headers, ...init }: Sent,
    expectedStatus?: number,
    faultOf: (error: unknown) => EdgeFault = () => this.#unreachable(),
  ): Promise<Response> {
    let response: Response;
    try {
      const sent = this.#send(this.#address + path, {
        ...init,
        headers: { ...headers, authorization: this.#authorization },
        // The token is for this origin alone.
        redirect: "manual",
        ...apartFromPage,
      });
      response = await unlessAborted(sent, init.signal);
    } catch (error) {
      throw init.signal?.aborted === true ? error : faultOf(error);
    }
    if (response.ok || response.status === expectedStatus) return response;
    throw await this.#problemOf(response);
  }

  async #problemOf(response: Response): Promise<EdgeFault> {
    if (response.status === 401)
      return new EdgeFault(
        "EDGE_UNAUTHENTICATED",
        "The edge does not accept this token.",
        "Take the token that the edge printed when it started.",
      );
    try {
      const { code, detail } = readProblem(await this.#json(response));
      return new EdgeFault("EDGE_REFUSED", detail, `${code}, status ${response.status}`, code);
    } catch {
      return this.#other(`answered with status ${response.status}`);
    }
  }

  /** @throws {EdgeFault} for what is not JSON, or more than an answer may hold */
  async #json(response: Response): Promise<unknown> {
    const parsed = parseJson(await boundedText(response, this.silenceMs), answerLimits);
    if (parsed.ok) return parsed.value;
    if (parsed.error.reason !== "syntax") throw tooMuch("an answer may hold");
    throw this.#other("did not answer with JSON");
  }

  #other(what: string): EdgeFault {
    return new EdgeFault("EDGE_NOT_UNDERSTOOD", `${this.#address} ${what}.`, "Is this the address of a Keyhole edge?");
  }
}

function posted(body: unknown): Sent {
  return { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}

/** Codes of Node and undici for a connection that was never there. */
const noConnection: readonly unknown[] = [
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
];

function isOfType({ headers }: Response, type: string): boolean {
  return (headers.get("content-type") ?? "").split(";", 1)[0]!.trim().toLowerCase() === type;
}

/** The deepest schema, and what it stands in. */
const answerLimits = {
  maxDepth: 160,
  maxNodes: 1_001_000,
  maxMembers: 251_000,
  maxStringUnits: mostOfEdge.answerBytes,
};

async function boundedText({ body }: Response, withinMs: number): Promise<string> {
  if (body === null) return "";
  const bytes = new GatheredBytes();
  await hurried(body, withinMs, (piece) => {
    if (bytes.length + piece.length > mostOfEdge.answerBytes)
      throw tooMuch(`${mostOfEdge.answerBytes.toLocaleString("en")} bytes in one answer`);
    bytes.add(piece);
  });
  return new TextDecoder().decode(bytes.take());
}
