import { type AddHelpTextContext, type Command, Option } from "commander";
import type { CommandIo, CommandResult } from "../io.ts";

/** Runs what a verb does. Verbs import their work at their call: `keyhole --help` loads none of it. */
export type Act = (work: (io: CommandIo) => Promise<CommandResult>) => Promise<void>;

/** Adds a verb with its arguments and options. */
export type AddVerb = (program: Command, act: Act) => void;

/** Of each verb that packs tools. */
export const rootOption: Option = new Option(
  "--root <folder>",
  "the folder outside of which tools import nothing (default: the workspace or project of this folder)",
);

/** Text below a verb's help, wrapped as the help is. A line that begins with a space stays as it is. */
export function below(text: string): (context: AddHelpTextContext) => string {
  return ({ command }) => {
    const help = command.createHelp();
    const width = command.configureOutput().getOutHelpWidth?.() ?? 80;
    const lines = text.split("\n").map((line) => (line.startsWith(" ") ? line : help.boxWrap(line, width)));
    return `\n${lines.join("\n")}`;
  };
}
