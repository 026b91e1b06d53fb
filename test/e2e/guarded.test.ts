import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { isRunning } from "../../scripts/serve/processes.mjs";

const guarded = fileURLToPath(new URL("../../scripts/serve/guarded.mjs", import.meta.url));

/** Starts a program under a guard, prints its process, and stays. */
const starter = `
  import { startGuarded } from ${JSON.stringify(guarded)};
  const program = "console.log(process.pid); setInterval(() => {}, 1e6);";
  const { output } = startGuarded(["--eval", program], {});
  const timer = setInterval(() => {
    if (output() === "") return;
    console.log(output());
    clearInterval(timer);
    process.stdin.resume();
  }, 10);
`;

it("a guarded program ends when its starter is killed", async () => {
  const parent = spawn(process.execPath, ["--input-type=module", "--eval", starter], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface(parent.stdout), "line")) as [string];
  const pid = Number(line);
  expect(isRunning(pid)).toBe(true);
  parent.kill("SIGKILL");
  await once(parent, "exit");
  try {
    await expect.poll(() => isRunning(pid)).toBe(false);
  } finally {
    if (isRunning(pid)) process.kill(pid, "SIGKILL");
  }
});
