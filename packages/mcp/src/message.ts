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
 * The JSON of a server; `undefined` for a text that is none. The fault is the reason why no reader is safe with it: it is too deep or too large, or has a member twice or with the
 * name `__proto__`.
 */
export function serverJson(text: string): { readonly value?: JsonValue; readonly fault?: string } {
  const parsed = parseText(text, serverLimits);
  if (parsed.ok) return { value: parsed.value };
  return parsed.reason === "syntax" ? {} : { fault: `The server sent unreadable JSON: ${parsed.reason}.` };
}

/**
 * A server's message of JSON-RPC, told by its members alone; `undefined` for another text, and a fault for JSON that no reader is safe with. The SDK parses each message with
 * a schema before it uses it: a second schema here would cost more than the call.
 */
export function serverMessageOf(line: string): { readonly message?: JSONRPCMessage; readonly fault?: string } {
  const { value, fault } = serverJson(line);
  if (fault !== undefined) return { fault };
  return isMessage(value) ? { message: value } : {};
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

export function isId(value: unknown): boolean {
  return typeof value === "string" || Number.isSafeInteger(value);
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
