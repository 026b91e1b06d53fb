import { execFile } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";

/** Stands for npm: prints its arguments and ends with the exit code that the environment gives for them. */
const npm = `#!/bin/sh
echo "npm $*"
case "$*" in
  *check*) exit "$CHECK_CODE" ;;
  *) echo "12 passed, 0 failed"; exit "$TEST_CODE" ;;
esac
`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "keyhole-ci-"));
  mkdirSync(join(folder, ".ci"));
  copyFileSync(join(import.meta.dirname, "../../.ci/run"), join(folder, ".ci/run"));
  writeFileSync(join(folder, "npm"), npm);
  chmodSync(join(folder, "npm"), 0o755);
});
afterAll(() => rmSync(folder, { recursive: true }));

async function run(checkCode: number, testCode: number): Promise<{ code: number; lines: readonly string[] }> {
  const env = {
    ...process.env,
    PATH: [folder, process.env["PATH"]].join(delimiter),
    CHECK_CODE: String(checkCode),
    TEST_CODE: String(testCode),
  };
  const ended = promisify(execFile)("bash", [join(folder, ".ci/run")], { env });
  const { code, stdout } = await ended.then(
    (passed) => ({ ...passed, code: 0 }),
    (failed: { code: number; stdout: string }) => failed,
  );
  return { code, lines: stdout.trimEnd().split("\n") };
}

it.each([
  ["checks and tests pass", 0, 0, 0],
  ["a check fails", 1, 0, 1],
  ["a test fails", 0, 1, 1],
  ["both fail", 2, 2, 1],
])("runs the checks, then the tests, whose line is the last: %s", async (_, checkCode, testCode, code) => {
  expect(await run(checkCode, testCode)).toEqual({
    code,
    lines: ["npm run --silent check -- --beside-tests", "npm test --silent", "12 passed, 0 failed"],
  });
});
