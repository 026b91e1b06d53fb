import { readFileSync } from "node:fs";
import { errorCodes, setupErrorCodes } from "../../packages/kernel/src/result.ts";
import { parsePage, table } from "../docs/markdown.ts";
import { markdownTable, withGenerated } from "./generated-parts.ts";
import { root } from "./sources.ts";

const readme = "docs/errors/README.md";

/** `docs/errors/README.md` with its two tables as the pages of the codes have their facts. */
export function errorsReadme(): string {
  return withGenerated(readFileSync(root + readme, "utf8"), [callTable(), setupTable()]);
}

function callTable(): string {
  const rows = errorCodes.map((code) => {
    const { meaning, retryable, terminal, status } = factsOf(code);
    return [link(code), meaning, firstWord(retryable), terminal.split(":")[0]!, firstWord(status)];
  });
  return markdownTable(["Code", "Meaning", "Retryable", "Terminal event", "HTTP"], rows);
}

function setupTable(): string {
  return markdownTable(
    ["Code", "Meaning"],
    setupErrorCodes.map((code) => [link(code), factsOf(code).meaning]),
  );
}

function factsOf(code: string): Record<"meaning" | "retryable" | "terminal" | "status", string> {
  const path = `docs/errors/${code}.md`;
  const { prose } = parsePage(path, readFileSync(root + path, "utf8"));
  const [[retryable = "", terminal = "", status = ""] = []] = table(
    prose,
    "Retryable",
    "Terminal event",
    "HTTP status",
  );
  return { meaning: prose.slice(1).find((line) => line !== "") ?? "", retryable, terminal, status };
}

const link = (code: string): string => `[${code}](${code}.md)`;
const firstWord = (cell: string): string => /^\w*/.exec(cell)![0];
