import type { JSONRPCMessage } from "@modelcontextprotocol/server";

/**
 * A message of JSON-RPC, told by its members alone; `undefined` for any other text. The SDK parses each message with a schema before it uses it: a second schema here
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
