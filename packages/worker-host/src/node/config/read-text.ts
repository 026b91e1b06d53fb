import { parsePolicyText } from "../policy-text.ts";
import type { ConfigText } from "./text.ts";
import { parseToml } from "./toml.ts";

export type TextFormat = "json" | "yaml" | "toml";

/** UTF-16 units. A person writes less. */
const mostLength = 1_048_576;
/** The reader refuses anchors, aliases, tags, duplicate keys and deep nesting, so no text is larger than it looks. */
export function readConfigText(text: string, format: TextFormat): ConfigText {
  const start = { line: 1, column: 1 };
  if (text.length > mostLength)
    return { ok: false, message: `A configuration has at most ${mostLength} characters.`, at: start };
  try {
    if (format === "toml") return parseToml(text);
    const read = parsePolicyText(text, format, "configuration");
    return read.ok ? { ok: true, document: read.value.document, locate: read.value.locateMember } : read;
  } catch {
    // Parsers call themselves for each level.
    return { ok: false, message: "The configuration nests too deeply.", at: start };
  }
}
