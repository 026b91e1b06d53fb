import type { ForeignTool } from "@keyhole/kernel/foreign-tools";
import type { McpSource, McpSourceOptions } from "@keyhole/mcp";
import { type CommandIo, type CommandOptions, type CommandResult, counted, visible } from "../io.ts";

type Listeners = Pick<McpSourceOptions, "onChange" | "onPromptChange" | "onServerChange" | "onLog">;

/** Notes what a server says, and each definition that begins to wait. A review shows those itself. */
export function sourceNotes(io: CommandIo, options: CommandOptions, prefix = ""): Listeners {
  const onLog = (level: string, data: unknown): void => io.note(`${visible(`${prefix}${level}: ${String(data)}`)}\n`);
  if (options["review"] === true) return { onLog };
  const note =
    (kind: string) =>
    (definition: ForeignTool): void =>
      io.note(`${kind}${textOf(definition)}  Run this command with --review to accept or refuse it.\n`);
  return { onLog, onChange: note(""), onPromptChange: note("Prompt: "), onServerChange: note("The way to the ") };
}

/** Shows each definition that waits, and pins those that the person at the terminal accepts. */
export async function review(source: McpSource, io: CommandIo): Promise<CommandResult> {
  const isWaiting = ({ state }: ForeignTool): boolean => state === "changed" || state === "new";
  const { server } = source;
  const waiting = [
    ...[server].filter(isWaiting).map(({ hash }) => ({
      text: `The way to the ${textOf(server)}`,
      confirm: () => source.confirmServer(hash),
    })),
    ...source.tools.filter(isWaiting).map((tool) => ({
      text: textOf(tool),
      confirm: () => source.confirm(tool.serverName, tool.hash),
    })),
    ...source.prompts.filter(isWaiting).map((prompt) => ({
      text: `Prompt: ${textOf(prompt)}`,
      confirm: () => source.confirmPrompt(prompt.serverName, prompt.hash),
    })),
  ];
  let accepted = 0;
  for (const { text, confirm } of waiting) {
    if (io.ask === undefined) io.note(text);
    const said = await io.ask?.('Type "yes" to accept this definition: ', io.signal, text);
    if (said?.trim() === "yes" && (await confirm())) accepted++;
  }
  const left = waiting.length - accepted;
  const output = `${counted(accepted, "definition")} accepted, ${left} waiting.\n`;
  return { exitCode: left === 0 ? 0 : 1, output };
}

/** One line for each place at which the definitions differ. */
function textOf({ serverName, state, differences }: ForeignTool): string {
  const lines = differences.flatMap(({ path, pinned, seen }) => [
    `  ${path === "" ? "/" : path}`,
    ...(pinned === undefined ? [] : [`    - ${pinned}`]),
    ...(seen === undefined ? [] : [`    + ${seen}`]),
  ]);
  return [`${serverName} is ${state}:`, ...lines].map((line) => `${visible(line)}\n`).join("");
}
