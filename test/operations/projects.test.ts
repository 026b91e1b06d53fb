import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CallResult } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { root } from "../support/sources.ts";
import { operationsKernel, temporaryFolder, type User, users } from "./on-machine.ts";

function project(files: Readonly<Record<string, string>>): string {
  const folder = join(temporaryFolder(), "project");
  mkdirSync(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

async function lint(folder: string, input: object): Promise<CallResult> {
  const kernel = await operationsKernel(users[0], { project: folder });
  return kernel.call("run_linter", input);
}

async function runTests(user: User, folder: string, input: object): Promise<CallResult> {
  const kernel = await operationsKernel(user, { project: folder });
  return kernel.call("run_tests", input);
}

const nodeTest = `import test from "node:test";
import assert from "node:assert";
test("passes", () => console.log("<?xml noise <testsuites>"));
test("fails \\u001b[31m\\u202e", () => assert.equal(1, 2, "one\\nline"));
test.skip("later", () => {});
`;

const outcome = {
  ok: true,
  data: { isPassed: false, passed: 1, failed: 1, skipped: 1 },
  effects: ["process.spawn"],
};

/** The Node of these tests can lie in a folder that other users cannot enter. */
function canRunNode(user: User): boolean {
  if (user !== "nobody") return true;
  try {
    // By a shell: setpriv itself still has the rights of root when it starts a program.
    const asNobody = ["--reuid=nobody", "--regid=nogroup", "--clear-groups", "/bin/sh", "-c", 'exec "$0" --version'];
    execFileSync("/usr/bin/setpriv", [...asNobody, process.execPath], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

describe.each(users.filter(canRunNode))("run_tests as %s", (user) => {
  it("runs node:test", async () => {
    const folder = project({ "a.test.mjs": nodeTest });
    const result = await runTests(user, folder, { runner: "node:test", paths: ["a.test.mjs"] });
    expect(result).toMatchObject(outcome);
    expect(result).toMatchObject({ data: { failures: [{ name: expect.stringMatching(/^fails [^\u001b\u202e]*$/) }] } });
  });

  it("says that a project has no such runner", async () => {
    const folder = project({});
    expect(await runTests(user, folder, { runner: "vitest" })).toMatchObject({
      ok: false,
      error: { code: "TOOL_ERROR", details: { name: "ProgramMissing" } },
    });
  });

  it.each([["../other"], ["/etc"], ["--import=data:text/javascript,1"], ["@file"]])(
    "runs nothing of %s",
    async (path) => {
      const folder = project({});
      expect(await runTests(user, folder, { runner: "node:test", paths: [path] })).toMatchObject({
        ok: false,
        error: { code: "CAPABILITY_DENIED" },
      });
    },
  );
});

it("run_tests runs vitest of the project", async () => {
  const test = nodeTest
    .replace("node:test", "vitest")
    .replace("import test", "import { test }")
    .replace("import assert", "import { assert }")
    .replace('"node:assert"', '"vitest"');
  const folder = project({ "a.test.mjs": test, "package.json": '{"type":"module"}' });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  expect(await runTests(users[0], folder, { runner: "vitest", paths: ["a.test.mjs"] })).toMatchObject(outcome);
});

it("run_tests reads what a program of the host writes as TAP", async () => {
  const folder = project({
    "a.test.mjs": nodeTest,
    "tap.sh": `#!/bin/sh\nexec '${process.execPath}' --test --test-reporter=tap "$@"\n`,
  });
  chmodSync(join(folder, "tap.sh"), 0o755);
  const kernel = await operationsKernel(users[0], { project: folder, programs: { tap: join(folder, "tap.sh") } });
  expect(await kernel.call("run_tests", { runner: "tap", paths: ["a.test.mjs"] })).toMatchObject(outcome);
});

/** As pytest writes: to a file that it opens, which has to be the pipe behind its stdout. */
it("run_tests gives pytest a stdout that it can open, and ends as pytest does", async () => {
  const text = readFileSync(join(import.meta.dirname, "recorded/pytest-9.xml"), "utf8");
  const folder = project({
    "report.xml": text,
    pytest: `#!/bin/sh\nfor last; do :; done\ncat report.xml > /dev/stdout\nexit "\${last#code}"\n`,
  });
  chmodSync(join(folder, "pytest"), 0o755);
  const kernel = await operationsKernel(users[0], { project: folder, programs: { pytest: join(folder, "pytest") } });
  const result = await kernel.call("run_tests", { runner: "pytest", paths: ["code1"] });
  expect(result).toMatchObject({ ok: true, data: { isPassed: false, passed: 1, failed: 4, skipped: 1 } });
  writeFileSync(join(folder, "report.xml"), "");
  expect(await kernel.call("run_tests", { runner: "pytest", paths: ["code4"] })).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining("pytest ended with 4") },
  });
});

it("run_tests shows what node:test says of bytes that are no UTF-8, and of a line of 1 MiB", async () => {
  const folder = project({
    "a.test.mjs": `import test from "node:test";
process.stdout.write(Buffer.from([0xff, 0xfe, 0x0a]));
test("long", () => console.log("x".repeat(1_048_576)));
test("y".repeat(100_000) + "\\u001b]0;owned\\u0007", () => { throw new Error("z".repeat(100_000)); });
`,
  });
  const result = await runTests(users[0], folder, { runner: "node:test", paths: ["a.test.mjs"] });
  expect(result).toMatchObject({ ok: true, data: { isPassed: false, failed: 1 } });
  expect(JSON.stringify(result).length).toBeLessThan(10_000);
});

it("run_linter runs oxlint of the project over files with hostile names and lines", async () => {
  const folder = project({ ".oxlintrc.json": '{"rules":{"eslint/no-debugger":"error"}}' });
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "src/a\u001b[31m\nb.mjs"), "debugger;\n");
  writeFileSync(join(folder, "src/long.mjs"), `export const text = "${"x".repeat(1_048_576)}"; debugger;\n`);
  writeFileSync(join(folder, "src/binary.mjs"), Buffer.from([0x64, 0xff, 0xfe, 0x0a]));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const result = await lint(folder, { linter: "oxlint", paths: ["src"] });
  expect(result).toMatchObject({ ok: true, data: { isClean: false }, effects: ["process.spawn"] });
  const { findings } = (result.ok ? result.data : {}) as { readonly findings: readonly object[] };
  const rule = "eslint(no-debugger)";
  expect(findings).toContainEqual(
    expect.objectContaining({ path: String.raw`src/a\u001b[31m\nb.mjs`, line: 1, column: 1, severity: "error", rule }),
  );
  expect(findings).toContainEqual(expect.objectContaining({ path: "src/long.mjs", rule }));
  expect(JSON.stringify(result).length).toBeLessThan(10_000);
});

it("run_linter says that a project is clean, and that it has no such linter", async () => {
  const folder = project({ "a.mjs": "export const a = 1;\n" });
  expect(await lint(folder, { linter: "eslint" })).toMatchObject({ error: { details: { name: "ProgramMissing" } } });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  expect(await lint(folder, { linter: "oxlint", paths: ["a.mjs"] })).toMatchObject({
    ok: true,
    data: { isClean: true, errors: 0, warnings: 0, notes: 0, findings: [] },
  });
});

it.each([["../other"], ["--fix"], ["--config=/etc/x"], ["/etc"]])("run_linter looks at nothing of %s", async (path) => {
  expect(await lint(project({}), { linter: "oxlint", paths: [path] })).toMatchObject({
    ok: false,
    error: { code: "CAPABILITY_DENIED" },
  });
});
