import { readFileSync } from "node:fs";
import { parts } from "../../scripts/test/thorough-parts.mjs";
import { markdownTable, withGenerated } from "./generated-parts.ts";
import { encodings, type SecretEncoding, unfound } from "./secret-encodings.ts";
import { root } from "./sources.ts";

/** Pages with tables that the tests' own lists make. */
export function generatedPages(): ReadonlyMap<string, string> {
  const rowsOf = (rows: readonly SecretEncoding[]): readonly (readonly string[])[] =>
    rows.map(({ name, detail }) => [name, detail]);
  const tables = {
    "docs/secrets.md": [
      markdownTable(["Encoding", "Found"], rowsOf(encodings)),
      markdownTable(["Written", "For example"], rowsOf(unfound)),
    ],
    "docs/testing.md": [
      markdownTable(
        ["Part", "Holds"],
        parts.map(({ name, holds }) => [`\`${name}\``, holds]),
      ),
    ],
  };
  return new Map(
    Object.entries(tables).map(([path, written]) => [path, withGenerated(readFileSync(root + path, "utf8"), written)]),
  );
}
