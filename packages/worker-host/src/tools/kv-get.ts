import { defineTool } from "@keyhole/kernel/tool";
import { decodeText, encodeBase64 } from "./encoding.ts";

export default defineTool({
  name: "kv_get",
  version: "1.0.0",
  title: "Get a value",
  description:
    "Returns the value that was kept under a key, as text (UTF-8) or, where it is no text, as base64; or says that there is none.",
  category: "data",
  effects: ["kv.read"],
  determinism: "external",
  tier: 1,
  risk: "low",
  idempotent: true,
  capabilities: [{ kind: "kv.read", keys: ["*"], valueBytes: 1 << 20, target: { key: "/key" } }],
  bounds: { outputBytes: 3 << 20 },
  input: {
    type: "object",
    properties: {
      key: { type: "string", minLength: 1, maxLength: 384, description: "The key, such as notes/today." },
    },
    required: ["key"],
    additionalProperties: false,
    examples: [{ key: "workspace/greeting" }],
  },
  output: {
    kind: "json",
    schema: {
      type: "object",
      properties: {
        key: { type: "string" },
        found: { type: "boolean" },
        value: { type: "string", description: "Empty where nothing was found." },
        encoding: { enum: ["text", "base64"] },
        byteLength: { type: "integer", minimum: 0 },
      },
      required: ["key", "found", "value", "encoding", "byteLength"],
      additionalProperties: false,
    },
  },
  async execute({ key }, { kv }) {
    const bytes = await kv.get(key);
    const text = bytes && decodeText(bytes);
    return {
      key,
      found: bytes !== undefined,
      value: text ?? encodeBase64(bytes ?? new Uint8Array()),
      encoding: bytes === undefined || text !== undefined ? ("text" as const) : ("base64" as const),
      byteLength: bytes?.length ?? 0,
    };
  },
});
