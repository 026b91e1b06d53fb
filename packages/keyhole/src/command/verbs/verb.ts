import type { AddHelpTextContext, Command } from "commander";
import type { CommandIo, CommandResult } from "../io.ts";

/** Runs what a verb does. Verbs import their work at their call: `keyhole --help` loads none of it. */
export type Act = (work: (io: CommandIo) => Promise<CommandResult>) => Promise<void>;

/** Adds a verb with its arguments and options. */
export type AddVerb = (program: Command, act: Act) => void;

/** Text below a verb's help, wrapped as the help is. A line that begins with a space stays as it is. */
export function below(text: string): (context: AddHelpTextContext) => string {
  return ({ command }) => {
    const help = command.createHelp();
    const width = command.configureOutput().getOutHelpWidth?.() ?? 80;
    const lines = text.split("\n").map((line) => (line.startsWith(" ") ? line : help.boxWrap(line, width)));
    return `\n${lines.join("\n")}`;
  };
}
