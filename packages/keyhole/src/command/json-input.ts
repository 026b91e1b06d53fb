import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { JsonValue } from "@keyhole/kernel";
import { Unusable, visible } from "./io.ts";
import { parse } from "./json-file.ts";

/**
 * The input of a call, as a person gives it: JSON, `@FILE`, or `-` for standard input.
 *
 * @throws {Unusable}
 */
export async function readInput(typed: unknown, folder: string): Promise<JsonValue> {
  if (typeof typed !== "string") return {};
  if (typed === "-") return parse(await wholeInput(), "standard input");
  if (!typed.startsWith("@")) return parse(typed, "--input");
  const path = typed.slice(1);
  try {
    return parse(await readFile(resolve(folder, path), "utf8"), path);
  } catch (error) {
    if (error instanceof Unusable) throw error;
    throw new Unusable(visible(`${path} cannot be read: ${error instanceof Error ? error.message : ""}`), {
      cause: error,
    });
  }
}

async function wholeInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks).toString("utf8");
}
