import { defineTool } from "@keyhole/kernel/tool";

// `capabilities` declares the access that the tool can use; the policy grants a part of it. `target` names the argument that the policy checks before a person is asked.
// Tier 2 means elevated risk: the policy asks a person.
export default defineTool({
  name: "save_note",
  version: "1.0.0",
  description: "Saves a note as a text file. The path is relative, such as notes/todo.txt.",
  tier: 2,
  effects: ["fs.write"],
  determinism: "external",
  capabilities: [{ kind: "fs.write", paths: ["**"], target: { path: "/path" } }],
  input: {
    type: "object",
    properties: { path: { type: "string", maxLength: 200 }, text: { type: "string", maxLength: 10_000 } },
    required: ["path", "text"],
    additionalProperties: false,
  },
  output: { kind: "text" },
  async execute({ path, text }, { files }) {
    await files.write(path, text);
    return `Saved ${text.length} characters to ${path}.`;
  },
});
