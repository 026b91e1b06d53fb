import { defineTool } from "@keyhole/kernel";

export default defineTool({
  name: "list_directory",
  version: "1.0.0",
  title: "List a folder",
  description:
    "Lists what is directly in one folder, sorted by name: files with their sizes, and folders. Without a path it lists the root.",
  category: "files",
  effects: ["fs.read"],
  determinism: "external",
  tier: 1,
  risk: "low",
  idempotent: true,
  capabilities: [{ kind: "fs.read", paths: ["**"] }],
  bounds: { outputBytes: 4 << 20 },
  input: {
    type: "object",
    properties: {
      path: {
        type: "string",
        maxLength: 1_024,
        default: "",
        description: "Relative path of the folder; empty for the root.",
      },
    },
    additionalProperties: false,
  },
  output: {
    kind: "json",
    schema: {
      type: "object",
      properties: {
        path: { type: "string" },
        entries: {
          type: "array",
          items: {
            type: "object",
            properties: {
              name: { type: "string" },
              kind: { enum: ["file", "directory"] },
              byteLength: { type: "integer", minimum: 0, description: "0 for a directory." },
            },
            required: ["name", "kind", "byteLength"],
            additionalProperties: false,
          },
        },
      },
      required: ["path", "entries"],
      additionalProperties: false,
    },
  },
  async execute({ path }, { files }) {
    const entries = await files.list(path);
    return { path, entries: entries.map(({ name, kind, byteLength }) => ({ name, kind, byteLength })) };
  },
});
