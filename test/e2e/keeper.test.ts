import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it } from "vitest";
import { Keeper } from "../../packages/edge/src/dev/keeper.ts";
import { isRunning } from "../../scripts/serve/processes.mjs";

const keeperFile = fileURLToPath(new URL("../../packages/edge/src/dev/keeper.ts", import.meta.url));

const children: ChildProcess[] = [];
const stays = (): ChildProcess => {
  const child = spawn(process.execPath, ["--eval", "setInterval(() => {}, 1e6)"], { stdio: "ignore" });
  children.push(child);
  return child;
};
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** Holds a process, prints it and its keeper, and stays. */
const starter = `
  import { spawn } from "node:child_process";
  import { Keeper } from ${JSON.stringify(keeperFile)};
  const keeper = new Keeper();
  const child = spawn(process.execPath, ["--eval", "setInterval(() => {}, 1e6)"], { stdio: "ignore" });
  keeper.hold(child.pid);
  console.log(JSON.stringify([child.pid, keeper.pid]));
  setInterval(() => {}, 1e6);
`;

it("ends what it holds, and itself, when its starter is killed", async () => {
  const parent = spawn(process.execPath, ["--input-type=module", "--eval", starter], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(parent);
  const [line] = (await once(createInterface(parent.stdout), "line")) as [string];
  const pids = JSON.parse(line) as number[];
  expect(pids.map(isRunning)).toEqual([true, true]);
  parent.kill("SIGKILL");
  await expect.poll(() => pids.map(isRunning)).toEqual([false, false]);
});

it("ends what it holds when it is stopped, and nothing that it let go", async () => {
  const [held, released] = [stays(), stays()];
  const keeper = new Keeper();
  for (const { pid } of [held, released]) keeper.hold(pid!);
  keeper.release(released.pid!);
  await keeper.stop();
  await expect.poll(() => isRunning(held.pid!)).toBe(false);
  expect(isRunning(released.pid!)).toBe(true);
});

it("has another one in its place when it was killed, which holds the same", async () => {
  const held = stays();
  const keeper = new Keeper();
  keeper.hold(held.pid!);
  const { pid } = keeper;
  process.kill(pid!, "SIGKILL");
  await expect.poll(() => keeper.pid).not.toBe(pid);
  await keeper.stop();
  await expect.poll(() => isRunning(held.pid!)).toBe(false);
});
