import { parseArgs } from "node:util";
import { type CommandOptions, Unusable } from "./io.ts";

const options = {
  keys: { type: "string" },
  pin: { type: "string", multiple: true },
  checkpoint: { type: "string" },
  log: { type: "string" },
  policy: { type: "string" },
  tool: { type: "string" },
  input: { type: "string" },
  out: { type: "string" },
  withheld: { type: "boolean" },
  json: { type: "boolean" },
  help: { type: "boolean" },
} as const;

/** SHA-256 in base64url. */
const thumbprint = /^[\w-]{43}$/;

export interface Arguments {
  readonly positionals: readonly string[];
  readonly options: CommandOptions;
}

/**
 * What a person typed. An option that is not known, or lacks its file, would leave something unchecked that the person means to have checked.
 *
 * @throws {Unusable}
 */
export function readArguments(typed: readonly string[]): Arguments {
  const { positionals, values } = parsed(typed);
  const empty = Object.entries(values).find(([, value]) => [value].flat().includes(""));
  if (empty) throw new Unusable(`--${empty[0]} names ${empty[0] === "pin" ? "no key" : "no file"}.`);
  return { positionals, options: values };
}

function parsed(typed: readonly string[]): ReturnType<typeof parseArgs> {
  try {
    return parseArgs({ args: withPinnedDashes(typed), allowPositionals: true, strict: true, options });
  } catch (error) {
    // Its first sentence; what follows is about programs that take file names with a dash.
    const [why = ""] = error instanceof Error ? error.message.split(/\. |\n/) : [];
    throw new Unusable(`${why}. \`keyhole --help\` has them all.`, { cause: error });
  }
}

/** A thumbprint can begin with a dash, which `parseArgs` takes for an option: joined to its option it is a value. */
function withPinnedDashes(typed: readonly string[]): string[] {
  const joined: string[] = [];
  for (const each of typed) {
    if (joined.at(-1) === "--pin" && thumbprint.test(each)) joined[joined.length - 1] = `--pin=${each}`;
    else joined.push(each);
  }
  return joined;
}

/**
 * Refuses options that say nothing about what a command works on: with them a person expects more than is done.
 *
 * @throws {Unusable}
 */
export function takeOnly(given: CommandOptions, taken: readonly string[], what: string): void {
  const other = Object.keys(given).find((name) => !taken.includes(name));
  if (other !== undefined) throw new Unusable(`--${other} is not for ${what}. \`keyhole --help\` has them all.`);
}
