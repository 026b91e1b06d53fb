import { readFileSync } from "node:fs";
import { errorCodes, setupErrorCodes } from "../../packages/kernel/src/result.ts";
import { parsePage, table } from "../docs/markdown.ts";
import { markdownTable, withGenerated } from "./generated-parts.ts";
import { docstringTables } from "./reference/docstring-tables.ts";
import { root } from "./sources.ts";

const readme = "docs/errors/README.md";

/** `docs/errors/README.md` with the facts of the pages of the codes, and docstrings of the packages. */
export function errorsReadme(): string {
  return withGenerated(readFileSync(root + readme, "utf8"), [
    docstringTables.errorFields(),
    callTable(),
    setupTable(),
    docstringTables.kernelFaults(),
    docstringTables.refusals(),
  ]);
}

function callTable(): string {
  const rows = errorCodes.map((code) => [link(code), ...factsOf(code)]);
  return markdownTable(["Code", "Meaning", "Retryable", "Terminal event", "HTTP"], rows);
}

function setupTable(): string {
  return markdownTable(
    ["Code", "Meaning"],
    setupErrorCodes.map((code) => [link(code), factsOf(code)[0]!]),
  );
}

/** The meaning, and the cells of the page's own table. */
function factsOf(code: string): readonly string[] {
  const path = `docs/errors/${code}.md`;
  const { prose } = parsePage(path, readFileSync(root + path, "utf8"));
  const [facts = []] = table(prose, "Retryable", "Terminal event", "HTTP status");
  return [prose.slice(1).find((line) => line !== "") ?? "", ...facts];
}

const link = (code: string): string => `[${code}](${code}.md)`;
