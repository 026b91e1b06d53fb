import { blake3, defineTool } from "@keyhole/kernel";
import { bytesOf } from "./encoding.ts";

export default defineTool({
  name: "hash",
  version: "1.0.0",
  title: "BLAKE3 digest",
  description:
    "Computes the BLAKE3 digest of a text (as UTF-8) or of bytes (as base64) and returns it as 64 hexadecimal characters. " +
    "Use it to compare or to identify content; equal content has equal digests everywhere.",
  category: "data",
  determinism: "pure",
  tier: 0,
  risk: "low",
  idempotent: true,
  input: {
    type: "object",
    properties: {
      data: { type: "string", description: "The content, in the form that `encoding` says." },
      encoding: {
        enum: ["text", "base64"],
        default: "text",
        description: "`text`: UTF-8. `base64`: RFC 4648 with padding.",
      },
    },
    required: ["data"],
    additionalProperties: false,
    examples: [{ data: "Hello, world!" }, { data: "AQIDBA==", encoding: "base64" }],
  },
  output: {
    kind: "json",
    schema: {
      type: "object",
      properties: {
        algorithm: { const: "blake3" },
        digest: { type: "string", pattern: "^[0-9a-f]{64}$" },
        byteLength: { type: "integer", minimum: 0 },
      },
      required: ["algorithm", "digest", "byteLength"],
      additionalProperties: false,
    },
  },
  check({ data, encoding }) {
    const bytes = bytesOf(data, encoding);
    return typeof bytes === "string" ? `\`data\` is unreadable: ${bytes}.` : undefined;
  },
  execute({ data, encoding }) {
    const bytes = bytesOf(data, encoding);
    if (typeof bytes === "string") throw new TypeError(bytes);
    return { algorithm: "blake3", digest: hexOf(blake3(bytes)), byteLength: bytes.length } as const;
  },
});

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
