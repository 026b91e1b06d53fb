import type { JsonValue } from "@keyhole/kernel";
import { type CommandIo, gathered, readText, textOf } from "./io.ts";
import { parse } from "./json-file.ts";

/**
 * The input of a call, as a person gives it: JSON, `@FILE`, or `-` for standard input.
 *
 * @param name of the place where the person typed it, for the error
 * @throws {Unusable}
 */
export async function readInput(typed: unknown, { files }: CommandIo, name = "--input"): Promise<JsonValue> {
  if (typeof typed !== "string") return {};
  if (typed === "-") return parse(textOf(await gathered(process.stdin, "standard input")), "standard input");
  if (!typed.startsWith("@")) return parse(typed, name);
  const path = typed.slice(1);
  return parse(await readText(path, files), path);
}
