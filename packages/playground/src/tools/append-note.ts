import { type CapabilityRefused, defineTool } from "@keyhole/kernel/tool";

export default defineTool({
  name: "append_note",
  version: "1.0.0",
  title: "Append to a note",
  description:
    "Appends one line to a text file below workspace/notes and returns the whole note. Its tier makes the standard posture ask a person first.",
  category: "example",
  tier: 2,
  effects: ["fs.read", "fs.write"],
  determinism: "external",
  capabilities: [
    { kind: "fs.read", paths: ["workspace/notes", "workspace/notes/*"] },
    { kind: "fs.write", paths: ["workspace/notes/*"], fileBytes: 65_536 },
  ],
  input: {
    type: "object",
    properties: {
      note: {
        type: "string",
        pattern: "^[a-z0-9-]{1,40}$",
        description: "Name of the note: lower-case letters, digits and dashes.",
        examples: ["journal"],
      },
      line: { type: "string", minLength: 1, maxLength: 500, description: "What to append." },
    },
    required: ["note", "line"],
    additionalProperties: false,
    examples: [{ note: "journal", line: "The kettle is on." }],
  },
  output: { kind: "text" },
  execute: async ({ note, line }, context) => {
    const path = `workspace/notes/${note}.txt`;
    const { entries } = await context.files.list("workspace/notes").catch(noFolder);
    const before = entries.some((entry) => entry.name === `${note}.txt`)
      ? new TextDecoder().decode(await context.files.read(path))
      : "";
    const after = `${before}${line}\n`;
    await context.files.write(path, after);
    context.log(`${path} has ${after.split("\n").length - 1} lines`);
    return after;
  },
});

/** The first note makes the folder. A refusal stays one. */
function noFolder(error: CapabilityRefused): { readonly entries: readonly [] } {
  if (error.code !== "NOT_FOUND") throw error;
  return { entries: [] };
}
