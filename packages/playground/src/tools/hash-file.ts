import { defineTool } from "@keyhole/kernel/tool";
import { hashStream } from "@keyhole/kernel/stream";

export default defineTool({
  name: "hash_file",
  version: "1.0.0",
  title: "BLAKE3 digest of a file",
  description:
    "Computes the BLAKE3 digest of a file that you choose, of any size: its bytes flow through the tool and are never held as a whole. The log has the same digest.",
  category: "example",
  bounds: { bodyBytes: 100_000_000_000, timeoutMs: 600_000 },
  input: { type: "object", additionalProperties: false },
  body: {},
  output: {
    kind: "json",
    schema: {
      type: "object",
      properties: { digest: { type: "string" }, byteLength: { type: "integer", minimum: 0 } },
      required: ["digest", "byteLength"],
      additionalProperties: false,
    },
  },
  async execute(_, { body }) {
    const hashed = hashStream(body);
    for await (const _piece of hashed); // It is read, and that is all.
    const digest = await hashed.digest;
    if (!digest.ok) throw new Error("There is no limit that it could reach.");
    return { digest: digest.hash, byteLength: digest.byteLength };
  },
});
