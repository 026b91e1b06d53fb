import { readFileSync } from "node:fs";
import { errorCodes, setupErrorCodes } from "../../packages/kernel/src/result.ts";
import { parsePage, table } from "../docs/markdown.ts";
import { root } from "./sources.ts";

const readme = "docs/errors/README.md";

/** `docs/errors/README.md` with its two tables as the pages of the codes have their facts. */
export function errorsReadme(): string {
  const source = readFileSync(root + readme, "utf8");
  const tables = [callTable(), setupTable()];
  return source.replaceAll(/(<!-- generated [^>]*-->\n\n)[\s\S]*?(\n\n<!-- end -->)/g, (_, open: string, end: string) =>
    [open, ...(tables.shift() ?? []), end].join(""),
  );
}

function callTable(): readonly string[] {
  const rows = errorCodes.map((code) => {
    const { meaning, retryable, terminal, status } = factsOf(code);
    return `| ${link(code)} | ${meaning} | ${firstWord(retryable)} | ${terminal.split(":")[0]} | ${firstWord(status)} |`;
  });
  const head = ["| Code | Meaning | Retryable | Terminal event | HTTP |", "| --- | --- | --- | --- | --- |"];
  return [[...head, ...rows].join("\n")];
}

function setupTable(): readonly string[] {
  const rows = setupErrorCodes.map((code) => `| ${link(code)} | ${factsOf(code).meaning} |`);
  return [["| Code | Meaning |", "| --- | --- |", ...rows].join("\n")];
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
