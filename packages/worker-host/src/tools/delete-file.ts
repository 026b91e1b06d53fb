import { defineTool } from "@keyhole/kernel/tool";

export default defineTool({
  name: "delete_file",
  version: "1.0.0",
  title: "Delete a file",
  description:
    "Deletes one file for good; there is no way back. Folders that become empty go with it. Paths are relative, like workspace/todo.txt.",
  category: "files",
  effects: ["fs.write"],
  determinism: "external",
  tier: 3,
  risk: "high",
  capabilities: [{ kind: "fs.write", paths: ["**"], operations: ["remove"], target: { path: "/path" } }],
  input: {
    type: "object",
    properties: { path: { type: "string", minLength: 1, maxLength: 1_024, description: "Relative path of the file." } },
    required: ["path"],
    additionalProperties: false,
    examples: [{ path: "workspace/greeting.txt" }],
  },
  output: {
    kind: "json",
    schema: {
      type: "object",
      properties: { path: { type: "string" }, deleted: { const: true } },
      required: ["path", "deleted"],
      additionalProperties: false,
    },
  },
  async execute({ path }, { files }) {
    await files.remove(path);
    return { path, deleted: true } as const;
  },
});
