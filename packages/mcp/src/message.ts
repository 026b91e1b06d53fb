import { type JsonValue, parseJson } from "@keyhole/kernel";
import { jsonTextFault } from "@keyhole/kernel/foreign";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";

/** The kernel's limits of an input, with room for the message around it. */
const messageLimits = { maxDepth: 80, maxNodes: 101_000, maxMembers: 51_000 };

type Parsed =
  | { readonly ok: true; readonly value: JsonValue }
  /** `id` of a message whose fault is a number. */
  | { readonly ok: false; readonly reason: string; readonly id?: RequestId | null };

export type RequestId = string | number;

/** The JSON of a client's text, under the same bounds on each transport. A text of which another reader takes another value is refused. */
export function parseMessage(text: string, mostUnits: number): Parsed {
  const parsed = parseJson(text, { ...messageLimits, maxStringUnits: mostUnits });
  // `not-finite` is a number in the text that a double cannot hold.
  const fault = parsed.ok || parsed.error.reason === "not-finite" ? jsonTextFault(text) : undefined;
  if (fault?.reason === "inexact-number") return { ok: false, reason: fault.message, id: idOf(JSON.parse(text)) };
  if (fault) return { ok: false, reason: fault.message };
  return parsed.ok ? parsed : { ok: false, reason: parsed.error.reason };
}

/** A client's message of JSON-RPC, read by {@link parseMessage}. Of any other text, the id to answer, and the place of a number that a double cannot hold. */
export function clientMessageOf(
  line: string,
  mostUnits: number,
): { readonly message: JSONRPCMessage } | { readonly reason?: string; readonly id: RequestId | null } {
  const parsed = parseMessage(line, mostUnits);
  if (!parsed.ok) return parsed.id === undefined ? { id: null } : { reason: parsed.reason, id: parsed.id };
  return isMessage(parsed.value) ? { message: parsed.value } : { id: null };
}

function idOf(value: unknown): RequestId | null {
  const id = isRecord(value) ? value["id"] : null;
  return isId(id) ? id : null;
}

/** A message of a server can be a list of many definitions. */
const serverLimits = { maxDepth: 80, maxNodes: 1_000_000, maxMembers: 500_000 };

/**
 * A server's message of JSON-RPC, told by its members alone. An answer that no reader is safe with (too deep, half a character, a member twice …) becomes an error for its
 * request. `undefined` for any other text. The SDK parses each message with a schema before it uses it: a second schema here would cost more than the call.
 */
export function serverMessageOf(line: string): JSONRPCMessage | undefined {
  const { value } = serverJson(line);
  return isMessage(value) ? value : undefined;
}

/** The JSON in a server's text, likewise. The fault says why the text itself cannot go on, and another text than JSON can. */
export function serverJson(text: string): { readonly value?: JsonValue | JSONRPCMessage; readonly fault?: string } {
  const parsed = parseServerText(text);
  if (parsed.ok && (!isRecord(parsed.value) || isMessage(parsed.value))) return { value: parsed.value };
  const fault = parsed.ok ? "it has another form than JSON-RPC" : parsed.reason;
  const refusal = refusalOf(text, fault);
  if (refusal) return { value: refusal, fault };
  if (parsed.ok) return { value: parsed.value };
  return fault === "syntax" ? {} : { fault };
}

/** Of a name that stands twice, each reader takes another value. */
function parseServerText(text: string): Parsed {
  const parsed = parseJson(text, serverLimits);
  if (!parsed.ok) return { ok: false, reason: parsed.error.reason };
  return jsonTextFault(text, "any") ? { ok: false, reason: "an object has a member twice" } : parsed;
}

/** Only its id is read. */
function refusalOf(text: string, reason: string): JSONRPCMessage | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(value) || value["jsonrpc"] !== "2.0" || value["method"] !== undefined || !isId(value["id"]))
    return undefined;
  return {
    jsonrpc: "2.0",
    id: value["id"],
    error: { code: -32_700, message: `Its answer cannot be read: ${reason}.` },
  };
}

function isMessage(value: unknown): value is JSONRPCMessage {
  if (!isRecord(value) || value["jsonrpc"] !== "2.0") return false;
  const { id, method, params, result, error } = value;
  if (method !== undefined)
    return typeof method === "string" && (id === undefined || isId(id)) && (params === undefined || isRecord(params));
  if (error === undefined) return isId(id) && isRecord(result);
  const isError = isRecord(error) && Number.isInteger(error["code"]) && typeof error["message"] === "string";
  return isError && result === undefined && (id === undefined || isId(id));
}

export function isId(value: unknown): value is RequestId {
  return typeof value === "string" || Number.isSafeInteger(value);
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
