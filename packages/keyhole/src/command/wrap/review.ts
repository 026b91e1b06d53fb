import type { ForeignTool } from "@keyhole/kernel/foreign-tools";
import type { McpSource } from "@keyhole/mcp";
import { type CommandIo, type CommandResult, counted, visible } from "../io.ts";

/** Shows each definition that waits, and pins those that the person at the terminal accepts. */
export async function review(source: McpSource, io: CommandIo): Promise<CommandResult> {
  const waiting = source.tools.filter(({ state }) => state === "changed" || state === "new");
  let accepted = 0;
  for (const tool of waiting) {
    io.note(textOf(tool));
    if (io.ask === undefined) continue;
    const said = await io.ask('Type "yes" to accept this definition: ', io.signal);
    if (said?.trim() === "yes" && (await source.confirm(tool.serverName, tool.hash))) accepted++;
  }
  const left = waiting.length - accepted;
  const output = `${counted(accepted, "definition")} accepted, ${left} waiting.\n`;
  return { exitCode: left === 0 ? 0 : 1, output };
}

/** One line for each place at which the definitions differ. */
export function textOf({ serverName, state, differences }: ForeignTool): string {
  const lines = differences.flatMap(({ path, pinned, seen }) => [
    `  ${path === "" ? "/" : path}`,
    ...(pinned === undefined ? [] : [`    - ${pinned}`]),
    ...(seen === undefined ? [] : [`    + ${seen}`]),
  ]);
  return [`${serverName} is ${state}:`, ...lines].map((line) => `${visible(line)}\n`).join("");
}
