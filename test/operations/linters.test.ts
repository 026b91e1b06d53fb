import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readEslint, readMypy, readSarif } from "../../packages/worker-host/src/tools/operations/lint-report.ts";

/** Real output of the programs, over files with hostile names, text that is no UTF-8 and a line of 1 MiB. */
const recorded = (name: string): string => readFileSync(join(import.meta.dirname, "recorded", name), "utf8");

const sarif = (result: object): string => JSON.stringify({ version: "2.1.0", runs: [{ results: [result] }] });

describe("findings of a linter", () => {
  it("are read from what ruff wrote", () => {
    const findings = readSarif("ruff", recorded("ruff-0.16.sarif"));
    expect(findings.length).toBeGreaterThan(3);
    expect(findings.map(({ path }) => path)).toContain(String.raw`/srv/app/bad\u202e \u001b[31m.py`);
    expect(findings.map(({ path }) => path)).toContain(String.raw`/srv/app/name\nline.py`);
    expect(findings.map(({ rule }) => rule)).toEqual(expect.arrayContaining(["F401", "F821"]));
  });

  it("are read from what mypy wrote, with columns from 1", () => {
    expect(readMypy("mypy", recorded("mypy-2.jsonl"))).toEqual([
      {
        path: "long.py",
        line: 2,
        column: 10,
        severity: "error",
        rule: "assignment",
        message: 'Incompatible types in assignment (expression has type "str", variable has type "int")',
      },
      expect.objectContaining({ line: 3, rule: "name-defined" }),
      expect.objectContaining({ path: String.raw`bad\u202e \u001b[31m.py`, rule: "return-value" }),
    ]);
  });

  it("are read from what ESLint wrote", () => {
    expect(readEslint("eslint", recorded("eslint-10.json"))).toMatchObject([
      { path: String.raw`/srv/app/a\u001b[31m\nb.mjs`, line: 1, severity: "warning", rule: "no-debugger" },
      { severity: "error", rule: "no-undef" },
      { path: "/srv/app/broken.mjs", severity: "error", rule: null },
    ]);
  });

  it("are warnings without a place where SARIF leaves both out", () => {
    expect(readSarif("x", sarif({ message: { text: "a\u001b\nb" } }))).toEqual([
      { path: "", line: null, column: null, severity: "warning", rule: null, message: String.raw`a\u001b\nb` },
    ]);
  });

  it("keep a URI that is none", () => {
    const locations = [{ physicalLocation: { artifactLocation: { uri: "file:///a%ff%00" } } }];
    expect(readSarif("x", sarif({ message: { text: "" }, locations }))).toMatchObject([{ path: "file:///a%ff%00" }]);
  });

  it.each([
    ["no JSON", "error: no such option"],
    ["another version", '{"version":"2.0.0","runs":[]}'],
    ["an array", "[]"],
    ["a message that is no text", sarif({ message: { text: 1 } })],
    ["a level that there is not", sarif({ level: "fatal", message: { text: "" } })],
    [
      "a line that is no number",
      sarif({ message: { text: "" }, locations: [{ physicalLocation: { region: { startLine: "1" } } }] }),
    ],
  ])("are none in %s", (_, output) => {
    expect(() => readSarif("ruff", output)).toThrow("The output of ruff is not as expected");
  });

  it.each([
    ["{}"],
    ['[{"filePath":1,"messages":[]}]'],
    ['[{"filePath":"a","messages":[{"severity":3,"message":""}]}]'],
  ])("are none for ESLint in %s", (output) => {
    expect(() => readEslint("eslint", output)).toThrow("The output of eslint is not as expected");
  });

  it.each([['{"file":"a"}'], ["Traceback"], ['{"file":"a","line":1,"column":0,"message":"","severity":"fatal"}']])(
    "are none for mypy in %s",
    (output) => {
      expect(() => readMypy("mypy", output)).toThrow("The output of mypy is not as expected");
    },
  );
});
