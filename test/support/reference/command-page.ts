import { readFileSync } from "node:fs";
import { type CommandIo, runCommand } from "../../../packages/keyhole/src/command/run-command.ts";
import { root } from "../sources.ts";
import { page } from "./markdown.ts";

/** Help reads no file, and asks nothing. */
const io: CommandIo = {
  files: {
    chunks: () => {
      throw new Error("no files");
    },
    write: () => Promise.reject(new Error("no files")),
  },
  folder: "/",
  program: ["node", "keyhole"],
  columns: 120,
  signal: new AbortController().signal,
  print: () => {},
  note: () => {},
};

export async function commandPage(): Promise<string> {
  const verbs = await verbsBelow([]);
  const helps = await Promise.all(
    verbs.map(async (verb) => [
      `## ${verb.join(" ")}`,
      "",
      "```text",
      ...(await help(verb))
        .trimEnd()
        .split("\n")
        .map((line) => line.trimEnd()),
      "```",
      "",
    ]),
  );
  return page(
    "Command",
    "For people at a terminal: each verb of `keyhole` with its options. [The command](../command.md) shows how they are used.",
    "the help of the command",
    ["## Exit codes", "", ...exitCodes(), "", ...helps.flat()],
  );
}

/** The table stands in a docstring. */
function exitCodes(): readonly string[] {
  const source = readFileSync(`${root}packages/keyhole/src/command/io.ts`, "utf8");
  return source.split("\n").flatMap((line) => /^ \* (\|.*)$/.exec(line)?.[1] ?? []);
}

async function verbsBelow(verb: readonly string[]): Promise<readonly (readonly string[])[]> {
  const text = await help(verb);
  const list = /^Commands:\n((?: .*\n?)+)/m.exec(text)?.[1] ?? "";
  const names = [...list.matchAll(/^ {2}([a-z][\w-]*)/gm)].flatMap(([, name = ""]) => (name === "help" ? [] : [name]));
  const below = await Promise.all(names.map((name) => verbsBelow([...verb, name])));
  return below.flatMap((deeper, at) => (deeper.length > 0 ? deeper : [[...verb, names[at]!]]));
}

async function help(verb: readonly string[]): Promise<string> {
  return (await runCommand([...verb, "--help"], io)).output;
}
