import { type JsonValue, parseJson } from "@keyhole/kernel";
import { repeatsKeys } from "@keyhole/kernel/audit";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";

/** The kernel's limits of an input, with room for the message around it. */
const messageLimits = { maxDepth: 80, maxNodes: 101_000, maxMembers: 51_000 };

type Parsed = { readonly ok: true; readonly value: JsonValue } | { readonly ok: false; readonly reason: string };

/** The JSON of a client's text, under the same bounds on each transport. */
export function parseMessage(text: string, mostUnits: number): Parsed {
  return parseText(text, { ...messageLimits, maxStringUnits: mostUnits });
}

/** Of a name that stands twice, each reader takes another value: such a text is refused. */
function parseText(text: string, limits: Parameters<typeof parseJson>[1]): Parsed {
  const parsed = parseJson(text, limits);
  if (!parsed.ok) return { ok: false, reason: parsed.error.reason };
  if (repeatsKeys(text, parsed.value)) return { ok: false, reason: "an object has a member twice" };
  return parsed;
}

/** A client's message of JSON-RPC, read by {@link parseMessage}; `undefined` for any other text. */
export function clientMessageOf(line: string, mostUnits: number): JSONRPCMessage | undefined {
  const parsed = parseMessage(line, mostUnits);
  return parsed.ok && isMessage(parsed.value) ? parsed.value : undefined;
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
  const parsed = parseText(text, serverLimits);
  if (parsed.ok && (!isRecord(parsed.value) || isMessage(parsed.value))) return { value: parsed.value };
  const fault = parsed.ok ? "it has another form than JSON-RPC" : parsed.reason;
  const refusal = refusalOf(text, fault);
  if (refusal) return { value: refusal, fault };
  if (parsed.ok) return { value: parsed.value };
  return fault === "syntax" ? {} : { fault };
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

export function isId(value: unknown): value is string | number {
  return typeof value === "string" || Number.isSafeInteger(value);
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
