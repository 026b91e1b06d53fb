import { readFileSync } from "node:fs";
import { errorCodes, type ErrorCode, type SetupErrorCode, setupErrorCodes } from "../../packages/kernel/src/result.ts";
import { callProblems } from "../../packages/edge/src/app/problem.ts";
import { play, scenarios, type Seen } from "../docs/scenarios.ts";
import type { Scenario } from "../docs/scenario.ts";
import { setupScenarios } from "../docs/setup-scenarios.ts";
import { markdownTable, withGenerated } from "./generated-parts.ts";
import { docstringTables } from "./reference/docstring-tables.ts";
import { root } from "./sources.ts";

export const errorPagePath = (code: ErrorCode | SetupErrorCode): string => `docs/errors/${code}.md`;

/** Every page of a code, with its facts and examples as calls give them now. */
export async function errorPages(): Promise<ReadonlyMap<string, string>> {
  const pages = new Map<string, string>();
  for (const code of errorCodes) pages.set(errorPagePath(code), await callPage(code));
  for (const code of setupErrorCodes) pages.set(errorPagePath(code), await setupPage(code));
  return pages;
}

export async function callPage(code: ErrorCode): Promise<string> {
  const list: readonly Scenario[] = scenarios[code];
  const seen: Seen[] = [];
  for (const each of list) seen.push(await play(each));
  const errors = seen.flatMap(({ result }) => (result.ok ? [] : [result.error]));
  const other = seen.find(({ result }) => result.ok || result.error.code !== code);
  if (other !== undefined) throw new Error(`A scenario of ${code} ended otherwise: ${JSON.stringify(other.result)}`);
  const retryable = new Set(errors.map((error) => error.retryable));
  const terminal = [...new Set(seen.flatMap((each) => each.terminal ?? []))].toSorted();
  const facts = [
    retryable.size === 2 ? "depends" : retryable.has(true) ? "yes" : "no",
    terminal.map((type) => `\`${type}\``).join(" or ") || "none",
    String(callProblems[code].status),
  ];
  return written(code, facts, errors);
}

export async function setupPage(code: SetupErrorCode): Promise<string> {
  const result = await setupScenarios[code]();
  if (result.ok) throw new Error(`The scenario of ${code} had no error.`);
  return written(code, ["no", "none", "none"], [result.error]);
}

function written(code: ErrorCode | SetupErrorCode, facts: readonly string[], errors: readonly unknown[]): string {
  const page = readFileSync(root + errorPagePath(code), "utf8");
  const examples = [...new Set(errors.map(asText))].map((text) => `\`\`\`json\n${text}\n\`\`\``);
  return withGenerated(page, [
    markdownTable(["Retryable", "Terminal event", "HTTP status"], [facts]),
    ...(code === "SNAPSHOT_REFUSED" ? [docstringTables.snapshotReasons()] : []),
    examples.join("\n\n"),
  ]);
}

/** Ids and digests are new with every call, or long. */
function asText(error: unknown): string {
  return JSON.stringify(error, null, 2)
    .replaceAll(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g, "…")
    .replaceAll(/(blake3:)[0-9a-f]{64}/g, "$1…");
}
