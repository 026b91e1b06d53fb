import { defineTool } from "@keyhole/kernel/tool";

/** Runs the command `subject`, and says all that it hears of it. */
export default defineTool({
  name: "spawner",
  version: "1.0.0",
  description: "Runs a command.",
  effects: ["process.spawn", "fs.read", "fs.write"],
  capabilities: [
    { kind: "process.spawn", commands: [{ command: "subject" }], optional: true },
    { kind: "fs.read", paths: ["**"], optional: true },
    { kind: "fs.write", paths: ["**"], optional: true },
    { kind: "clock", optional: true },
  ],
  determinism: "external",
  input: {
    type: "object",
    properties: { deed: { type: "string" }, value: { type: "string" } },
    required: ["deed"],
  },
  output: { kind: "json" },
  async execute(input, { spawn }) {
    const { exitCode, stdout, stderr } = await spawn("subject", [], { stdin: JSON.stringify(input) });
    return { exitCode, stdout: new TextDecoder().decode(stdout), stderr };
  },
});
