import { globSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import { expect, it } from "vitest";
import { root } from "./support/sources.ts";

/** True on each machine on which the set-up has run: the rest is optional on other systems alone. */
const setUp = [
  "natsServerPath === undefined",
  "fox === undefined",
  "!hasSuites",
  "suite === null",
  "readSuite() === undefined",
  "!countsThreads",
  "keeps",
  "!hasCompiler()",
  'missing.includes("git")',
  'missing.includes("git") || users.length < 2',
  'process.platform !== "linux"',
  'lacks("df")',
  'lacks("ps")',
  'lacks("ps", "ss")',
  "!hasDisk",
];

/** In CI a skipped test is a failed one. */
it("a quick test is skipped only where the set-up left a part out", () => {
  const files = globSync("test/**/*.ts", { cwd: root }).filter(
    (file) => !/\.thorough\.|node_modules|\/peers\//.test(file),
  );
  const conditions = files.flatMap((file) =>
    [...readFileSync(`${root}/${file}`, "utf8").matchAll(/\.(?:skipIf|runIf)\((.+?)\)(?:\(|\.each)/g)].map(
      ([, condition]) => ({ file: relative("test", file), condition }),
    ),
  );
  expect(conditions.length).toBeGreaterThan(10);
  expect(conditions.filter(({ condition }) => !setUp.includes(condition!))).toEqual([]);
});
