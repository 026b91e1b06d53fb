import { defineTool } from "@keyhole/kernel/tool";
import { decodeText, encodeBase64 } from "./encoding.ts";

export default defineTool({
  name: "read_file",
  version: "1.0.0",
  title: "Read a file",
  description:
    "Returns the content of one file, as text (UTF-8) or as base64. Paths are relative, like workspace/todo.txt. At most 2 MiB.",
  category: "files",
  effects: ["fs.read"],
  determinism: "external",
  tier: 1,
  risk: "low",
  idempotent: true,
  capabilities: [{ kind: "fs.read", paths: ["**"], fileBytes: 2 << 20, target: { path: "/path" } }],
  bounds: { outputBytes: 5 << 20 },
  input: {
    type: "object",
    properties: {
      path: { type: "string", minLength: 1, maxLength: 1_024, description: "Relative path of the file." },
      encoding: {
        enum: ["text", "base64"],
        default: "text",
        description: "`text` for UTF-8 text, `base64` for anything else.",
      },
    },
    required: ["path"],
    additionalProperties: false,
    examples: [{ path: "workspace/greeting.txt" }],
  },
  output: {
    kind: "json",
    schema: {
      type: "object",
      properties: {
        path: { type: "string" },
        content: { type: "string" },
        encoding: { enum: ["text", "base64"] },
        byteLength: { type: "integer", minimum: 0 },
      },
      required: ["path", "content", "encoding", "byteLength"],
      additionalProperties: false,
    },
  },
  async execute({ path, encoding }, { files }) {
    const bytes = await files.read(path);
    const content = encoding === "base64" ? encodeBase64(bytes) : decodeText(bytes);
    if (content === undefined) throw new TypeError(`${path} is not UTF-8 text; read it with encoding base64.`);
    return { path, content, encoding, byteLength: bytes.length };
  },
});
