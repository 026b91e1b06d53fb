import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { processesOf } from "../../scripts/test/processes.mjs";
import { watchProgress } from "../../scripts/test/run-vitest.mjs";
import { sized } from "../support/size.ts";
import { root } from "../support/sources.ts";

interface Stopped {
  readonly code: number | null;
  readonly output: string;
  /** Processes of the run that are still there: by the run's mark, or below the process that the fixture started. */
  readonly left: readonly string[];
}

/** Starts the runner on a suite that never ends, sends a signal in the middle, and waits for its end. */
async function stopWith(signal: NodeJS.Signals): Promise<Stopped> {
  const folder = mkdtempSync(join(tmpdir(), "keyhole-runner-"));
  const startedPath = join(folder, "started");
  const chunks: string[] = [];
  const env = { ...process.env, KEYHOLE_FIXTURE: startedPath };
  const args = ["scripts/test.mjs", "--config=test/runner/fixtures/vitest.config.ts"];
  const runner = spawn(process.execPath, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  runner.stdout.on("data", (chunk) => chunks.push(String(chunk)));
  runner.stderr.on("data", (chunk) => chunks.push(String(chunk)));
  const closed = new Promise<number | null>((resolve) => runner.on("close", resolve));

  const started = (): number => Number(readFileSync(startedPath, "utf8"));
  await expect
    .poll(() => (runner.exitCode === null ? started() : "ended early"), { message: chunks.join("") })
    .toBeGreaterThan(0);
  const detached = started();
  // The grandchild has an environment of its own, without the mark: only its parent tells whose it is.
  await expect.poll(() => processesOf("", detached).length).toBe(2);
  // Vitest hands on its results in batches.
  await expect.poll(() => chunks.join("")).toContain("fixture > test/runner/fixtures/stopped.fixture.ts > fails");
  const pids = processesOf("", detached).map(({ pid }) => pid);
  runner.kill(signal);
  const code = await closed;
  rmSync(folder, { recursive: true });
  const left = pids.flatMap((pid) => processesOf("", pid)).map(({ command }) => command);
  return { code, output: chunks.join(""), left };
}

describe("a run that is stopped", () => {
  it.each(sized<readonly NodeJS.Signals[]>(["SIGINT"], ["SIGINT", "SIGTERM", "SIGHUP"]))(
    "by %s leaves no process and prints its results",
    async (signal) => {
      const { code, output, left } = await stopWith(signal);
      expect(left).toEqual([]);
      expect(code).toBe(1);
      expect(output).toContain(`The run was stopped: it received ${signal}`);
      expect(output).toContain("Running at that time:\n  fixture test/runner/fixtures/stopped.fixture.ts");
      expect(output).toContain(
        "Run it alone: npm test -- test/runner/fixtures/stopped.fixture.ts --project fixture -t '^fails$'",
      );
      expect(output.trimEnd().split("\n").at(-1)).toBe("1 passed, 2 failed");
    },
  );
});

describe("a run that makes progress", () => {
  afterEach(() => void vi.useRealTimers());

  it("is not stopped, however long it takes, and is stopped once nothing ends", () => {
    vi.useFakeTimers();
    const onStall = vi.fn<() => void>();
    const progress = watchProgress(300_000, onStall);
    for (let i = 0; i < 100; i++) {
      vi.advanceTimersByTime(299_999);
      progress.restart();
    }
    expect(onStall).not.toHaveBeenCalled();
    vi.advanceTimersByTime(300_000);
    expect(onStall).toHaveBeenCalledOnce();
  });

  it("is not stopped after its end", () => {
    vi.useFakeTimers();
    const onStall = vi.fn<() => void>();
    watchProgress(300_000, onStall).end();
    vi.advanceTimersByTime(600_000);
    expect(onStall).not.toHaveBeenCalled();
  });
});
