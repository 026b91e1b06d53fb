import type { RequestId } from "../message.ts";

/** A refusal of a whole request, as JSON-RPC over HTTP. */
export function refusal(status: number, code: number, message: string, id: RequestId | null = null): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id }, { status });
}
