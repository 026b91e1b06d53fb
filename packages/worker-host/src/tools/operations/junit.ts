import { Parser } from "htmlparser2";
import { unreadable } from "./program.ts";
import { messageLength, ReportBuilder, type TestReport } from "./test-report.ts";

/** Open elements at a time. Runners nest suites a few deep, and the parser's work grows with the square of the depth. */
const maxDepth = 200;

interface OpenTest {
  readonly name: string;
  readonly suite: string;
  outcome: "passed" | "failed" | "skipped";
  message: string;
}

/**
 * Reads a report in JUnit's XML. Tests can print text before it. The parser follows no
 * document type and knows the five entities of XML alone, so no entity expands. It counts elements
 * as they come, and keeps only the first failures.
 *
 * @throws {Error} where there is no report, or it does not end
 */
export function readJunit(runner: string, output: string): TestReport {
  // The output of a test stands in an element of the report.
  const start = output.search(/^<\?xml version="1\.0"/m);
  if (start < 0) throw unreadable(runner, "there is no report");
  const builder = new ReportBuilder();
  let test: OpenTest | undefined;
  let depth = 0;
  let isInFailure = false;
  let isWhole = false;
  const parser = new Parser(
    {
      onopentag(tag, { name = "", classname = "", message = "" }) {
        if (++depth > maxDepth) throw unreadable(runner, "the elements of its report are too deep");
        if (tag === "testcase") test = { name, suite: classname, outcome: "passed", message: "" };
        else if (test !== undefined && tag === "skipped") test.outcome = "skipped";
        else if (test !== undefined && (tag === "failure" || tag === "error")) {
          test.outcome = "failed";
          test.message ||= message.slice(0, messageLength);
          isInFailure = true;
        }
      },
      ontext(text) {
        if (test !== undefined && isInFailure && test.message.length < messageLength)
          test.message += (test.message === "" ? text.trimStart() : text).slice(0, messageLength - test.message.length);
      },
      onclosetag(tag, isImplied) {
        depth--;
        if (tag === "failure" || tag === "error") isInFailure = false;
        if (tag === "testsuites" && !isImplied) isWhole = true;
        if (tag !== "testcase" || test === undefined) return;
        builder.add(test.outcome, test);
        test = undefined;
      },
    },
    { xmlMode: true },
  );
  parser.end(output.slice(start));
  if (!isWhole) throw unreadable(runner, "the report does not end");
  return builder.report();
}
