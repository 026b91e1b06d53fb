import { defineTool } from "@keyhole/kernel/tool";
import { bytesOf } from "./encoding.ts";

export default defineTool({
  name: "kv_put",
  version: "1.0.0",
  title: "Keep a value",
  description:
    "Keeps a small value under a key, from text (UTF-8) or base64, in the place of what was there. At most 1 MiB. Without `value` the key is deleted.",
  category: "data",
  effects: ["kv.write"],
  determinism: "external",
  tier: 2,
  risk: "medium",
  idempotent: true,
  capabilities: [{ kind: "kv.write", keys: ["*"], valueBytes: 1 << 20, target: { key: "/key" } }],
  input: {
    type: "object",
    properties: {
      key: { type: "string", minLength: 1, maxLength: 384, description: "The key, such as notes/today." },
      value: { type: "string", description: "The whole value, in the form that `encoding` says." },
      encoding: { enum: ["text", "base64"], default: "text" },
    },
    required: ["key"],
    additionalProperties: false,
    examples: [{ key: "workspace/greeting", value: "Hello, world!" }],
  },
  output: {
    kind: "json",
    schema: {
      type: "object",
      properties: {
        key: { type: "string" },
        kept: { type: "boolean", description: "false where the key was deleted." },
        byteLength: { type: "integer", minimum: 0 },
      },
      required: ["key", "kept", "byteLength"],
      additionalProperties: false,
    },
  },
  check({ value = "", encoding }) {
    const bytes = bytesOf(value, encoding);
    return typeof bytes === "string" ? `\`value\` is unreadable: ${bytes}.` : undefined;
  },
  async execute({ key, value, encoding }, { kv }) {
    if (value === undefined) {
      await kv.delete(key);
      return { key, kept: false, byteLength: 0 };
    }
    const bytes = bytesOf(value, encoding);
    if (typeof bytes === "string") throw new TypeError(bytes);
    await kv.put(key, bytes);
    return { key, kept: true, byteLength: bytes.length };
  },
});
