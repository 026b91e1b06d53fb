import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const header = `import { bytesOf, membersOf } from "../normalize/foreign.ts";`;

/** Ways to use a foreign value, and how often too many. */
const uses: readonly (readonly [name: string, code: string, tooMany: number])[] = [
  ["one reading", "function f(foreign: unknown) { return membersOf(foreign); }", 0],
  ["two readings", "function f(foreign: unknown) { return [membersOf(foreign), membersOf(foreign)]; }", 1],
  ["handed on twice", "function f(foreign: unknown) { check(foreign); use(foreign); }", 1],
  [
    "checked as one type and used as another",
    "function f(foreign: unknown) { if (isA(foreign)) use(foreign as A); }",
    1,
  ],
  ["a member that is read twice", "const { a } = membersOf(given()); bytesOf(a); bytesOf(a);", 1],
  ["a name that says it", "function f(foreign: unknown) { return [copy(foreign), foreign]; }", 1],
  ["captured and read in a function", "function f(foreign: unknown) { return () => [g(foreign), g(foreign)]; }", 1],
  [
    "its type, and one reading",
    "function f(foreign: unknown) { if (typeof foreign !== 'object') return; g(foreign); }",
    0,
  ],
  [
    "whether it is there, and one reading",
    "const f = (foreign: unknown) => foreign === undefined ? 1 : g(foreign);",
    0,
  ],
  [
    "a primitive, as often as one likes",
    "const f = (foreign: unknown) => typeof foreign === 'string' ? foreign + foreign : g(foreign);",
    0,
  ],
  [
    "a number behind its test",
    "const f = (foreign: unknown) => typeof foreign === 'number' && foreign > 0 && foreign < 9;",
    0,
  ],
  ["what was read, as often as one likes", "const own = copy(given()); use(own); use(own);", 0],
];

let folder: string;
let reports: readonly { readonly filename: string }[];
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "keyhole-lint-"));
  for (const [at, [, code]] of uses.entries()) writeFileSync(join(folder, `${at}.ts`), `${header}\n${code}\n`);
  const plugin = join(root, "scripts/lint/read-once.mjs");
  const rules = { "keyhole/read-once": "error" };
  writeFileSync(join(folder, "lint.json"), JSON.stringify({ jsPlugins: [plugin], plugins: [], categories: { correctness: "off" }, rules })); // prettier-ignore
  const oxlint = join(root, "node_modules/.bin/oxlint");
  const { stdout } = spawnSync(oxlint, ["-c", "lint.json", "--format", "json", "."], { cwd: folder, encoding: "utf8" });
  ({ diagnostics: reports } = JSON.parse(stdout) as { readonly diagnostics: typeof reports });
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("the rule that a foreign value is used once", () => {
  it.each(uses)("counts %s", (name, _, tooMany) => {
    const file = `${uses.findIndex(([each]) => each === name)}.ts`;
    expect(reports.filter(({ filename }) => basename(filename) === file)).toHaveLength(tooMany);
  });
});
