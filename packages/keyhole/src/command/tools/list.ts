import { type CommandIo, type CommandOptions, type CommandResult, visible } from "../io.ts";
import { defaultFolder, openTools } from "./find-tool.ts";
import { faultLine, idOf, isolateOf, type LoadedTool } from "./load-tools.ts";

/** Says which tools there are, and what each declares. */
export async function list(typed: readonly string[], { json }: CommandOptions, io: CommandIo): Promise<CommandResult> {
  const { tools, faults } = await openTools(typed.length > 0 ? typed : [defaultFolder], io);
  const exitCode = faults.length > 0 ? 1 : 0;
  if (json === true) {
    const rows = tools.map(({ file, package: { manifest, hash } }) => ({ file, hash, manifest }));
    return { exitCode, output: `${JSON.stringify({ tools: rows, faults }, undefined, 2)}\n` };
  }
  const lines = [...tools.map(toolLines), ...faults.map(faultLine)];
  return { exitCode, output: lines.map((line) => `${line}\n`).join("") };
}

function toolLines({ file, package: pkg }: LoadedTool): string {
  const { description, tier, determinism, capabilities } = pkg.manifest;
  const wishes = capabilities.map(({ kind, optional }) => (optional === true ? `${kind} (optional)` : kind));
  const lines = [
    `${idOf(pkg)}  ${file}`,
    `  ${description}`,
    `  tier ${tier}, ${determinism}, ${wishes.length === 0 ? "no capabilities" : wishes.join(", ")}; for ${isolateOf(pkg)}`,
    `  ${pkg.hash}`,
  ];
  return lines.map(visible).join("\n");
}
