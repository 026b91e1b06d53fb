import { Parser } from "tap-parser";
import { lineOf } from "./clean.ts";
import type { LineParser } from "./line-parser.ts";
import { unreadable } from "./program.ts";
import { ReportBuilder, type TestReport } from "./test-report.ts";

/**
 * Reads a report in TAP, version 12 to 14, with its subtests. A test that has subtests counts as them; one marked `TODO` counts as skipped.
 *
 * @throws {Error} where there is no report, where it gives up, or where it has not as many tests as it plans
 */
export function readTap(runner: string, output: string): TestReport {
  const builder = new ReportBuilder();
  const parser: LineParser = new Parser();
  parser.on("result", ({ ok, skip, todo, name, fullname, diag }) => {
    const suite = fullname.slice(0, -name.length).replace(/ > $/, "");
    builder.add(skip !== false || todo !== false ? "skipped" : ok ? "passed" : "failed", {
      name,
      suite,
      message: messageOf(diag),
    });
  });
  // Line by line, for `write` asks Node whether it was given a buffer.
  for (const line of output.split("\n")) parser.parse(`${line}\n`);
  parser.end();
  if (parser.bailedOut !== false)
    throw unreadable(runner, `the tests gave up: ${lineOf(String(parser.bailedOut), 500)}`);
  if (parser.count === 0) throw unreadable(runner, "there is no report");
  if (parser.planStart < 0 || parser.count !== parser.planEnd - parser.planStart + 1)
    throw unreadable(runner, "the report has not the tests that it plans");
  return builder.report();
}

/** The message of a test in its YAML. Runners use different names for it. */
function messageOf(diag: unknown): string {
  if (typeof diag !== "object" || diag === null) return "";
  const said = new Map<string, unknown>(Object.entries(diag));
  return [said.get("error"), said.get("message")].find((each) => typeof each === "string") ?? "";
}
