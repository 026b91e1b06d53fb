import { type JsonValue, parseJson } from "@keyhole/kernel";
import { repeatsKeys } from "@keyhole/kernel/audit";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";

/** The kernel's limits of an input, with room for the message around it. */
const messageLimits = { maxDepth: 80, maxNodes: 101_000, maxMembers: 51_000 };

/** The JSON of a client's text, under the same bounds on each transport. Of a name that stands twice, each reader takes another value: such a text is refused. */
export function parseMessage(
  text: string,
  mostUnits: number,
): { readonly ok: true; readonly value: JsonValue } | { readonly ok: false; readonly reason: string } {
  const parsed = parseJson(text, { ...messageLimits, maxStringUnits: mostUnits });
  if (!parsed.ok) return { ok: false, reason: parsed.error.reason };
  if (repeatsKeys(text, parsed.value)) return { ok: false, reason: "an object has a member twice" };
  return parsed;
}

/** A client's message of JSON-RPC, read by {@link parseMessage}; `undefined` for any other text. */
export function clientMessageOf(line: string, mostUnits: number): JSONRPCMessage | undefined {
  const parsed = parseMessage(line, mostUnits);
  return parsed.ok && isMessage(parsed.value) ? parsed.value : undefined;
}

/**
 * A server's message of JSON-RPC, told by its members alone; `undefined` for any other text. The SDK parses each message with a schema before it uses it: a second schema here
 * would cost more than the call.
 */
export function messageOf(line: string): JSONRPCMessage | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  return isMessage(value) ? value : undefined;
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
