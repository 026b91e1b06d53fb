import { type JsonValue, parseJson } from "@keyhole/kernel";
import { jsonTextFault } from "@keyhole/kernel/foreign";
import { type CommandFiles, type CommandOptions, readText, Unusable, visible } from "./io.ts";

export function parse(text: string, path: string): JsonValue {
  if (text.startsWith("-----BEGIN "))
    throw new Unusable(
      `${visible(path)} is PEM. Give a key as a JSON Web Key: in Node, crypto.createPublicKey(pem).export({ format: "jwk" }) makes one.`,
    );
  if (text.trim() === "") throw new Unusable(`${visible(path)} is empty.`);
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (error) {
    const why = error instanceof Error ? visible(error.message) : "";
    throw new Unusable(`${visible(path)} is not JSON: ${why}`, { cause: error });
  }
  if (jsonTextFault(text, "any"))
    throw new Unusable(`${visible(path)} has a duplicate member, so JSON parsers disagree about its value.`);
  return value;
}

/** No event is deeper, and the readers of an event walk it. The length of a line has its own bound. */
const lineLimits = { maxDepth: 200, maxNodes: 100_000_000, maxMembers: 100_000_000, maxStringUnits: 1_000_000_000 };

/** One line of a log; `undefined` where it is not JSON: the reader of the log reports it. */
export function parsedLine(line: string): unknown {
  const parsed = parseJson(line, lineLimits);
  return parsed.ok ? parsed.value : undefined;
}

/** A text or a comment, also one without an end: it is searched once. */
const aText = /"(?:\\[^]?|[^"\\])*(?:"|$)/.source;
const comments = new RegExp(`${aText}|\\/\\/[^\\n]*|\\/\\*(?:[^]*?\\*\\/|[^]*$)`, "g");
const endlessComment = /^\/\*(?!.*\*\/$)/s;
const lastCommas = new RegExp(`${aText}|,(?=\\s*[}\\]])`, "g");

/**
 * JSON as editors keep their settings: with comments, commas before a closing bracket, and a byte order mark. Each turns into spaces, so that a fault has its place.
 *
 * @throws {Unusable}
 */
export function parseWithComments(text: string, path: string): JsonValue {
  const blank = (found: string): string =>
    found.startsWith('"') || endlessComment.test(found) ? found : found.replaceAll(/[^\n]/g, " ");
  const plain = text
    .replace(/^\ufeff/, "")
    .replaceAll(comments, blank)
    .replaceAll(lastCommas, blank);
  return parse(plain, path);
}

async function readJson(path: string, files: CommandFiles): Promise<JsonValue> {
  return parse(await readText(path, files), path);
}

/** The document that an option names; `undefined` where it was not given. */
export async function readOption(
  name: string,
  options: CommandOptions,
  files: CommandFiles,
): Promise<JsonValue | undefined> {
  const path = options[name];
  return typeof path === "string" ? readJson(path, files) : undefined;
}
