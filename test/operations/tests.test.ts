import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readJunit } from "../../packages/worker-host/src/tools/operations/junit.ts";
import { readTap } from "../../packages/worker-host/src/tools/operations/tap.ts";

/** Real output of the programs. */
const recorded = (name: string): string => readFileSync(join(import.meta.dirname, "recorded", name), "utf8");

const report = (tests: string): string => `<?xml version="1.0" encoding="utf-8"?><testsuites>${tests}</testsuites>\n`;
const failing = (message: string): string =>
  `<testcase name="a" classname="c"><failure message="${message}">more</failure></testcase>`;

describe("a report of JUnit", () => {
  it("counts tests, and says why some failed", () => {
    const tests = `<testsuite><testcase name="ok"/><testcase name="later"><skipped/></testcase>${failing("1 &lt; 2")}<testsuite>
      <testcase name="broken"><error><![CDATA[no <b>]]></error><system-out>noise</system-out></testcase></testsuite></testsuite>`;
    expect(readJunit("pytest", `noise <testsuites/>\n${report(tests)}`)).toEqual({
      passed: 1,
      failed: 2,
      skipped: 1,
      failures: [
        { name: "a", suite: "c", message: "1 < 2more" },
        { name: "broken", suite: "", message: "no <b>" },
      ],
    });
  });

  it.each([
    ["nothing", ""],
    ["what tests printed", "<testsuites></testsuites>"],
    ["half a report", report("<testcase/>").replace("</testsuites>", "")],
    ["a page", "<html><?xml ?><p>"],
  ])("is none: %s", (_, output) => {
    expect(() => readJunit("vitest", output)).toThrow("The output of vitest is not as expected");
  });

  it("unfolds no entity, of its own or of a file", () => {
    const bomb = `<!DOCTYPE r [<!ENTITY a "${"a".repeat(1_000)}"><!ENTITY b "${"&a;".repeat(1_000)}"><!ENTITY f SYSTEM "file:///etc/passwd">]>`;
    const [first] = readJunit("pytest", report(failing("&b;&f;")).replace("?>", `?>${bomb}`)).failures;
    expect(first?.message).toBe("&b;&f;more");
  });

  it("keeps a hundred failures, each cut and in one line", () => {
    const { failed, failures } = readJunit(
      "pytest",
      report(failing(`\u001b[31m\n\u202e${"x".repeat(1_048_576)}`).repeat(3)),
    );
    expect(failed).toBe(3);
    expect(failures[0]?.message).toMatch(/^\\u001b\[31m\\n\\u202ex+$/);
    expect(failures[0]?.message.length).toBeLessThan(2_100);
    const many = readJunit("pytest", report(failing("x").repeat(101)));
    expect([many.failed, many.failures.length]).toEqual([101, 100]);
  });

  it.each([
    [198, 1],
    [199, "too deep"],
  ])("%i elements around a test give %j", (depth, outcome) => {
    const read = (): unknown =>
      readJunit("pytest", report(`${"<a>".repeat(depth)}<testcase/>${"</a>".repeat(depth)}`)).passed;
    if (typeof outcome === "string") expect(read).toThrow(outcome);
    else expect(read()).toBe(outcome);
  });

  it("reads what pytest wrote of hostile tests", () => {
    const { failures, ...counts } = readJunit("pytest", recorded("pytest-9.xml"));
    expect(counts).toEqual({ passed: 1, failed: 4, skipped: 1 });
    expect(failures.map(({ name }) => name.slice(0, 40))).toEqual([
      "test_hostile_names[\\x1b[31m\\nred\\u202e]",
      "test_hostile_names[yyyyyyyyyyyyyyyyyyyyy",
      "test_invalid_utf8",
      "test_error",
    ]);
    expect(failures[1]?.name.length).toBe(501);
    expect(JSON.stringify(failures)).not.toMatch(/[\u0000-\u001f\u202e]/);
    expect(failures[3]?.message).toContain("no fixture");
  });
});

const tapOf = (lines: readonly string[], plan = `1..${lines.length}`): string =>
  ["TAP version 13", ...lines, plan, ""].join("\n");

describe("a report of TAP", () => {
  it("counts tests and subtests, and says why some failed", () => {
    const tap = `TAP version 13
# Subtest: outer
    # Subtest: inner
    not ok 1 - inner \\# x
      ---
      error: |-
        one
        line
      code: 'ERR'
      ...
    1..1
not ok 1 - outer
ok 2 - b # SKIP later
not ok 3 - t # TODO some
ok 4 - c
1..4
`;
    expect(readTap("tap", tap)).toEqual({
      passed: 1,
      failed: 1,
      skipped: 2,
      failures: [{ name: "inner # x", suite: "outer", message: "one\\nline" }],
    });
  });

  it.each([
    ["nothing", "", "there is no report"],
    ["a page", "<html>\n<p>ok\n", "there is no report"],
    ["half a report", tapOf(["ok 1"], "1..2"), "not the tests that it plans"],
    ["a report without a plan", tapOf(["ok 1"], ""), "not the tests that it plans"],
    ["a report that gives up", tapOf(["ok 1", "Bail out! \u001b[31mno disk"]), "gave up: \\u001b[31mno disk"],
  ])("is none: %s", (_, output, reason) => {
    expect(() => readTap("tap", output)).toThrow(reason);
  });

  it("keeps a hundred failures, each cut and in one line", () => {
    const long = `not ok 1 - \u001b[31m\u202e${"x".repeat(1_048_576)}`;
    const { failures } = readTap(
      "tap",
      tapOf([long, "  ---", `  error: "\\e[31m\\n${"y".repeat(10_000)}"`, "  ..."], "1..1"),
    );
    expect(failures[0]?.name).toMatch(/^\\u001b\[31m\\u202ex+…$/);
    expect(failures[0]?.message).toMatch(/^\\u001b\[31m\\ny+…$/);
    const many = readTap("tap", tapOf(Array.from({ length: 101 }, (_, at) => `not ok ${at + 1} - x`)));
    expect([many.failed, many.failures.length]).toEqual([101, 100]);
  });

  it("unfolds no aliases without end", () => {
    const letters = [..."bcdefghijklmn"];
    const bomb = letters.map(
      (each, at) =>
        `  ${each}: &${each} [${Array(9)
          .fill(`*${letters[at - 1] ?? "a"}`)
          .join(",")}]`,
    );
    const lines = ["not ok 1 - a", "  ---", "  a: &a [x,x,x,x,x,x,x,x,x]", ...bomb, "  error: no", "  ..."];
    expect(readTap("tap", tapOf(lines, "1..1"))).toMatchObject({ failed: 1, failures: [{ name: "a" }] });
  });
});
