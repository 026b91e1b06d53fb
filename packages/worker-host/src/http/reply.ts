import { type HttpResponse, type JsonValue, type OutputContract, parseJson } from "@keyhole/kernel";
import { filledIn } from "@keyhole/kernel/references";
import { referencesBody, type Responses } from "./responses.ts";

/** Statuses of failures that pass (RFC 9110, 15.5.9, 15.6.3 to 15.6.5; RFC 6585, 4; RFC 8470, 5.2). */
const passing: readonly number[] = [408, 425, 429, 502, 503, 504];

/** Names of errors that the template did not name. */
const invalidReply = "INVALID_REPLY";

/** Why a reply is no output. `name` is the template's own code, which a caller finds in the details. */
export class ReplyError extends Error {
  readonly retryable: boolean;

  constructor(name: string, message: string, retryable = false) {
    super(message);
    this.name = name;
    this.retryable = retryable;
  }
}

/** A reply as it arrived, with what its output is made of. */
export interface Reply {
  readonly host: string;
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly bytes: Uint8Array;
  readonly input: JsonValue;
}

/**
 * The output of a reply, not yet checked against its schema.
 *
 * @throws ReplyError for a status that is an error, and for a reply that does not match its status
 */
export function outputOf(reply: Reply, responses: Responses, output: OutputContract): unknown {
  const response = responseFor(responses, reply.status);
  if (!response || "error" in response) throw errorOf(reply, response);
  const isMapped = response.output !== undefined;
  const readsJson = isMapped ? referencesBody(response.output) : output.kind === "json";
  assertMediaType(reply, response.mediaType ?? output.mediaType, readsJson);
  if (!isMapped) {
    if (output.kind === "binary") return reply.bytes;
    return readsJson ? jsonOf(reply) : textOf(reply);
  }
  const body = readsJson ? jsonOf(reply) : undefined;
  const value = filledIn(response.output, sourcesOf(reply, body));
  if (value === undefined)
    throw new ReplyError(invalidReply, `The reply of ${reply.host} lacks the value that is the output.`);
  return value;
}

function responseFor(responses: Responses, status: number): HttpResponse | undefined {
  const keys = [String(status), `${Math.floor(status / 100)}XX`, "default"];
  const key = keys.find((each) => Object.hasOwn(responses, each));
  if (key !== undefined) return responses[key];
  return status >= 200 && status < 300 ? {} : undefined;
}

function errorOf(reply: Reply, response: Extract<HttpResponse, { error: unknown }> | undefined): ReplyError {
  const { host, status } = reply;
  const { code = `HTTP_${status}`, message, retryable = passing.includes(status) } = response?.error ?? {};
  const body = referencesBody(message) && isJsonType(typeOf(reply)) ? bodyOf(reply) : undefined;
  const own = message === undefined ? undefined : filledIn(message, sourcesOf(reply, body));
  return new ReplyError(
    code,
    typeof own === "string" && own !== "" ? own : `${host} answered with ${status}.`,
    retryable,
  );
}

function sourcesOf({ status, headers, input }: Reply, body: JsonValue | undefined): ReadonlyMap<string, JsonValue> {
  const known: [string, JsonValue][] = [
    ["status", status],
    ["headers", Object.fromEntries(headers)],
    ["input", input],
  ];
  return new Map(body === undefined ? known : [...known, ["body", body]]);
}

function typeOf({ headers }: Reply): string {
  return essenceOf(headers.get("content-type") ?? "");
}

/** Without parameters (WHATWG MIME Sniffing, 2). */
function essenceOf(mediaType: string): string {
  return mediaType.replace(/;.*$/s, "").trim().toLowerCase();
}

function isJsonType(type: string): boolean {
  return type === "application/json" || (type.startsWith("application/") && type.endsWith("+json"));
}

/** Checks the media type of a reply: an error page is no data. A reply without a body needs none. */
function assertMediaType(reply: Reply, expected: string | undefined, readsJson: boolean): void {
  if (reply.bytes.length === 0) return;
  const type = typeOf(reply);
  const wanted = expected === undefined ? undefined : essenceOf(expected);
  const isExpected = wanted === undefined ? !readsJson || isJsonType(type) : type === wanted;
  if (isExpected) return;
  const got = type === "" ? "without a media type" : `of the type ${JSON.stringify(type.slice(0, 100))}`;
  throw new ReplyError(invalidReply, `The reply of ${reply.host} is ${got}; expected ${wanted ?? "application/json"}.`);
}

function textOf({ host, bytes }: Reply): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw new ReplyError(invalidReply, `The reply of ${host} is not UTF-8.`);
  }
}

/** `null` where a success has no body (RFC 9110, 15.3.5). */
function jsonOf(reply: Reply): JsonValue {
  if (reply.bytes.length === 0) return null;
  const parsed = parseJson(textOf(reply));
  if (parsed.ok) return parsed.value;
  throw new ReplyError(invalidReply, `The body of the reply of ${reply.host} is not JSON: ${parsed.error.reason}.`);
}

/** For the message of an error, which needs none. */
function bodyOf(reply: Reply): JsonValue | undefined {
  try {
    return jsonOf(reply);
  } catch {
    return undefined;
  }
}
