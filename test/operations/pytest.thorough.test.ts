import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { operationsKernel, temporaryFolder, users } from "./on-machine.ts";

const tests = `
import pytest
def test_passes(): print("<?xml noise")
def test_fails(): assert 1 == 2, "\\x1b[31m"
@pytest.mark.skip
def test_later(): pass
`;

/** Debian's, with its package `python3-pytest`. The quick suite reads a recorded report. */
it.skipIf(!existsSync("/usr/bin/pytest"))("run_tests runs pytest", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "test_a.py"), tests);
  const kernel = await operationsKernel(users[0], { project: folder });
  expect(await kernel.call("run_tests", { runner: "pytest" })).toMatchObject({
    ok: true,
    data: { isPassed: false, passed: 1, failed: 1, skipped: 1 },
  });
});
