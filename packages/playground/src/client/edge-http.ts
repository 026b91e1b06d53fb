import { parseJson } from "@keyhole/kernel";
import { mostOfEdge, tooMuch } from "./edge-bounds.ts";
import type { EdgeSettings } from "./edge-settings.ts";
import { readProblem } from "./edge-wire.ts";
import { ClientFault } from "./kernel-client.ts";

/** One edge, with its token. Every failure is a {@link ClientFault}. */
export class Edge {
  readonly #address: string;
  readonly #authorization: string;

  constructor({ address, token }: EdgeSettings) {
    this.#address = address;
    this.#authorization = `Bearer ${token}`;
  }

  async get(path: string): Promise<unknown> {
    return this.json(await this.#fetch(path, {}));
  }

  /** @throws {ClientFault} for what is not JSON, or more than an answer may hold */
  async json(response: Response): Promise<unknown> {
    const parsed = parseJson(await boundedText(response), answerLimits);
    if (parsed.ok) return parsed.value;
    if (parsed.error.reason !== "syntax") throw tooMuch("an answer may hold");
    throw new ClientFault(
      "protocol",
      `${this.#address} did not answer with JSON.`,
      "Is this the address of a Keyhole edge?",
    );
  }

  /** `undefined` where the token may not read it. */
  async optional(path: string): Promise<unknown> {
    return this.get(path).catch(() => undefined);
  }

  /**
   * A call is asked for as a stream; anything else answers with nothing.
   *
   * @param bytes the body of a call, whose JSON goes into a header then
   */
  send(path: string, body: unknown, signal: AbortSignal, bytes?: Blob): Promise<Response> {
    const accept = "text/event-stream";
    const json = JSON.stringify(body);
    if (!bytes) {
      const headers = { "content-type": "application/json", accept };
      return this.#fetch(path, { method: "POST", headers, body: json, signal });
    }
    const base64 = btoa(String.fromCharCode(...new TextEncoder().encode(json)));
    const headers = { "content-type": "application/octet-stream", accept, "keyhole-call": `:${base64}:` };
    return this.#fetch(path, { method: "POST", headers, body: bytes, signal });
  }

  /** @throws {ClientFault} */
  async post(path: string, body: unknown): Promise<unknown> {
    const headers = { "content-type": "application/json" };
    return this.json(await this.#fetch(path, { method: "POST", headers, body: JSON.stringify(body) }));
  }

  /** What is gone already is no fault. */
  async remove(path: string): Promise<void> {
    await this.#fetch(path, { method: "DELETE" }, 404);
  }

  unreachable(): ClientFault {
    const hint = "Is it running, and does it allow this page's origin? Its address and token are under “Edge”.";
    return new ClientFault("unreachable", `The edge at ${this.#address} does not answer.`, hint);
  }

  async #fetch(
    path: string,
    init: Omit<RequestInit, "headers"> & { readonly headers?: Record<string, string> },
    expectedStatus?: number,
  ): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(this.#address + path, {
        ...init,
        headers: { ...init.headers, authorization: this.#authorization },
        referrerPolicy: "no-referrer",
        credentials: "omit",
      });
    } catch (error) {
      throw init.signal?.aborted === true ? error : this.unreachable();
    }
    if (response.ok || response.status === expectedStatus) return response;
    throw await this.#problemOf(response);
  }

  async #problemOf(response: Response): Promise<ClientFault> {
    if (response.status === 401)
      return new ClientFault(
        "unauthorized",
        "The edge does not accept this token.",
        "Copy the token that the edge printed when it started, and enter it under “Edge”.",
      );
    try {
      const { code, detail } = readProblem(await this.json(response));
      return new ClientFault("protocol", detail, `${code}, status ${response.status}`);
    } catch {
      return new ClientFault(
        "protocol",
        `${this.#address} answered with status ${response.status}.`,
        "Is this the address of a Keyhole edge?",
      );
    }
  }
}

/** The deepest schema, and what it stands in. */
const answerLimits = {
  maxDepth: 160,
  maxNodes: 1_001_000,
  maxMembers: 251_000,
  maxStringUnits: mostOfEdge.answerBytes,
};

async function boundedText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let byteLength = 0;
  if (body !== null)
    // Not every browser iterates over a stream.
    for (const reader = body.getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) break;
      byteLength += value.length;
      if (byteLength > mostOfEdge.answerBytes) {
        await reader.cancel().catch(() => {});
        throw tooMuch(`${mostOfEdge.answerBytes.toLocaleString("en")} bytes in one answer`);
      }
      parts.push(decoder.decode(value, { stream: true }));
    }
  return parts.join("") + decoder.decode();
}
