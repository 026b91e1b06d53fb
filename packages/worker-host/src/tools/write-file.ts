import { defineTool } from "@keyhole/kernel/tool";
import { bytesOf } from "./encoding.ts";

export default defineTool({
  name: "write_file",
  version: "1.0.0",
  title: "Write a file",
  description:
    "Writes one file from text (UTF-8) or base64, whole or not at all. Replaces a file of the same path; folders on the way are made. " +
    "Paths are relative, like workspace/todo.txt. At most 2 MiB.",
  category: "files",
  effects: ["fs.write"],
  determinism: "external",
  tier: 2,
  risk: "medium",
  idempotent: true,
  capabilities: [{ kind: "fs.write", paths: ["**"], fileBytes: 2 << 20, target: { path: "/path" } }],
  input: {
    type: "object",
    properties: {
      path: { type: "string", minLength: 1, maxLength: 1_024, description: "Relative path of the file." },
      content: { type: "string", description: "The whole content, in the form that `encoding` says." },
      encoding: { enum: ["text", "base64"], default: "text" },
    },
    required: ["path", "content"],
    additionalProperties: false,
    examples: [{ path: "workspace/greeting.txt", content: "Hello, world!\n" }],
  },
  output: {
    kind: "json",
    schema: {
      type: "object",
      properties: { path: { type: "string" }, byteLength: { type: "integer", minimum: 0 } },
      required: ["path", "byteLength"],
      additionalProperties: false,
    },
  },
  check({ content, encoding }) {
    const bytes = bytesOf(content, encoding);
    return typeof bytes === "string" ? `\`content\` is unreadable: ${bytes}.` : undefined;
  },
  async execute({ path, content, encoding }, { files }) {
    const bytes = bytesOf(content, encoding);
    if (typeof bytes === "string") throw new TypeError(bytes);
    await files.write(path, bytes);
    return { path, byteLength: bytes.length };
  },
});
