import { hashBytes } from "@keyhole/kernel";
import { serve, type Site } from "./site.ts";

/** An edge with these tools that answers each call with four bytes and the digest of others. */
export function lyingEdge(tools: readonly object[]): Promise<Site> {
  const send = (event: string, data: object): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
  const digest = hashBytes(new Uint8Array([1, 2, 3, 4]));
  const meta = { durationMs: 1, networkRequests: 0, networkBytes: 0, cached: false, warnings: [] };
  const ended = { tool: "pour@1.0.0", callId: "c", effects: [], meta, proof: {} };
  const result = { ok: true, ...ended, data: { digest, byteLength: 4 }, hash: digest };
  const lie = send("output", { base64: btoa("\u0000\u0000\u0000\u0000") }) + send("result", result);
  return serve(({ url, method }, response) => {
    response
      .setHeader("access-control-allow-origin", "*")
      .setHeader("access-control-allow-headers", "*, authorization");
    if (method === "OPTIONS") response.end();
    else if (url === "/v1/tools") response.end(JSON.stringify({ tools }));
    else if (url === "/v1/policy") response.end(JSON.stringify({ policy: {}, policyHash: "", mode: "NORMAL" }));
    else response.setHeader("content-type", "text/event-stream").end(lie);
  });
}
