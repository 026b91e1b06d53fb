import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { parts } from "../../scripts/test/thorough-parts.mjs";
import { headers } from "../../packages/bus/src/wire/headers.ts";
import { markdownTable, withGenerated } from "./generated-parts.ts";
import { docstringTables } from "./reference/docstring-tables.ts";
import { encodings, type SecretEncoding, unfound } from "./secret-encodings.ts";
import { root } from "./sources.ts";
import { vocabulary } from "./vocabulary.ts";

/** Pages with tables that the tests' own lists make. */
export function generatedPages(): ReadonlyMap<string, string> {
  const rowsOf = (rows: readonly SecretEncoding[]): readonly (readonly string[])[] =>
    rows.map(({ name, detail }) => [name, detail]);
  const tables = {
    "docs/secrets.md": [
      markdownTable(["Encoding", "Found"], rowsOf(encodings)),
      markdownTable(["Written", "For example"], rowsOf(unfound)),
    ],
    "docs/bus-protocol.md": [markdownTable(["Header", "Holds"], busHeaders()), docstringTables.busRefusals()],
    "docs/internals/metering.md": [docstringTables.meterCodes()],
    "docs/mcp.md": [docstringTables.foreignTools()],
    "docs/testing.md": [
      markdownTable(
        ["Part", "Holds"],
        parts.map(({ name, holds }) => [`\`${name}\``, holds]),
      ),
    ],
    "docs/audit.md": [docstringTables.verdicts()],
    "docs/how-to/call-an-edge.md": [docstringTables.edgeCodes()],
    "docs/how-to/configure.md": [docstringTables.configuration()],
    "docs/how-to/http-tools.md": [docstringTables.httpTemplate()],
    "docs/vocabulary.md": vocabulary.map(({ terms }) =>
      markdownTable(
        ["Elsewhere", "Keyhole", "Shown by"],
        terms.map(({ elsewhere, keyhole, file }) => [elsewhere, keyhole, `[${basename(file)}](../${file})`]),
      ),
    ),
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
