import { readFileSync } from "node:fs";
import { parts } from "../../scripts/test/thorough-parts.mjs";
import { headers } from "../../packages/bus/src/wire/headers.ts";
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
    "docs/bus-protocol.md": [markdownTable(["Header", "Holds"], busHeaders())],
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

/** The headers of the bus with their docstrings. */
function busHeaders(): readonly (readonly string[])[] {
  const source = readFileSync(`${root}packages/bus/src/wire/headers.ts`, "utf8");
  const rows = [...source.matchAll(/\/\*\* ([^*]*) \*\/\s+\w+: "([a-z-]+)",/g)];
  if (rows.length !== Object.keys(headers).length) throw new Error("A header of the bus has no docstring.");
  return rows.map(([, text = "", name = ""]) => [`\`${name}\``, text.replaceAll(/\s+/g, " ")]);
}
