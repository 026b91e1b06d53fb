import { defineTool } from "@keyhole/kernel/tool";

export default defineTool({
  name: "list_directory",
  version: "1.1.0",
  title: "List a folder",
  description:
    "Lists what is directly in one folder, sorted by name: files with their sizes, and folders. Without a path it lists the root. " +
    "Large folders come in pages: give `next` as `after` for the page that follows.",
  category: "files",
  effects: ["fs.read"],
  determinism: "external",
  tier: 1,
  risk: "low",
  idempotent: true,
  capabilities: [{ kind: "fs.read", paths: ["**"], target: { path: "/path" } }],
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
      limit: { type: "integer", minimum: 1, maximum: 10_000, default: 1_000, description: "Entries at most." },
      after: {
        type: "string",
        maxLength: 1_024,
        default: "",
        description: "List only names that come after this one.",
      },
    },
    additionalProperties: false,
    examples: [{ path: "workspace" }],
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
        next: { type: "string", description: "The last name of this page, where there are more." },
        leftOut: {
          type: "integer",
          description: "Files and folders with names that no tool can use, if there are any.",
        },
      },
      required: ["path", "entries"],
      additionalProperties: false,
    },
  },
  async execute({ path, limit, after }, { files }) {
    const { entries: all, leftOut } = await files.list(path);
    const entries = all.filter(({ name }) => name > after);
    const page = entries.slice(0, limit).map(({ name, kind, byteLength }) => ({ name, kind, byteLength }));
    const last = page.at(-1);
    const more = entries.length > page.length && last && { next: last.name };
    return { path, entries: page, ...more, ...(leftOut > 0 && { leftOut }) };
  },
});
