import { readdirSync } from "node:fs";
import { stat } from "node:fs/promises";
import { Worker } from "node:worker_threads";
import { nodeHost } from "@keyhole/worker-host/node";
import { describe, expect, it } from "vitest";
import bystander from "keyhole:../contract/tools/bystander.ts";
import subject from "keyhole:../contract/tools/subject.ts";
import { sized } from "../support/size.ts";
import { chaos } from "./chaos/chaos.ts";
import { reportText } from "./chaos/report.ts";
import type { Sampled } from "./chaos/waiting.ts";

/** `npm run chaos` asks for more, and for what other tools notice: beside more sessions than there are cores, and beside one, which leaves a core free. */
const asked = process.env["KEYHOLE_CHAOS_ROUNDS"];
const rounds = asked === undefined ? sized(undefined, 50) : Number(asked);
const seed = Number(process.env["KEYHOLE_CHAOS_SEED"] ?? 20_261_121);
const sessions = asked === undefined ? [3] : [3, 1];

const bareScript = `
  const { Worker, parentPort } = require("node:worker_threads");
  const echo = new Worker('const { parentPort: port } = require("node:worker_threads"); port.on("message", (x) => port.postMessage(x))', { eval: true });
  let times = [];
  let isOver = true;
  const sample = async () => {
    while (!isOver) {
      const startedMs = performance.now();
      await new Promise((resolve) => { echo.once("message", resolve); echo.postMessage("x"); });
      times.push(performance.now() - startedMs);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    parentPort.postMessage(times);
    times = [];
  };
  parentPort.on("message", (word) => {
    isOver = word === "stop";
    if (!isOver) sample();
  });
`;

/** From one thread to another and back, neither of them this one. */
function bareThreads(): { readonly sample: () => Sampled; readonly close: () => Promise<unknown> } {
  const worker = new Worker(bareScript, { eval: true });
  const stop = (): Promise<readonly number[]> =>
    new Promise((resolve) => {
      worker.once("message", resolve);
      worker.postMessage("stop");
    });
  return {
    sample() {
      worker.postMessage("start");
      return { stop };
    },
    close: () => worker.terminate(),
  };
}

/** Of this process, in the eyes of the system; elsewhere than on Linux nobody counts them. */
const threads = (): number => (process.platform === "linux" ? readdirSync("/proc/self/task").length : 0);

const shells = [
  ["threads of Node", [subject.hash, bystander.hash]],
  ["the interpreter in threads of Node", []],
] as const;

describe.each(shells)("in %s", (_, trusted) => {
  it.each(sessions)(
    "every fault, again and again in random order, ends as it may in sessions at once: %i",
    { timeout: 3_600_000 },
    async (lanes) => {
      const rejections: unknown[] = [];
      const note = (reason: unknown): void => void rejections.push(reason);
      process.on("unhandledRejection", note);
      await stat("/"); // Node's own pool of threads is there from then on.
      const before = threads();
      const bare = bareThreads();
      const options = { seed, rounds, lanes, bare: bare.sample, restMs: asked === undefined ? undefined : 500 };
      const report = await chaos(nodeHost({ trusted }), options);
      await bare.close();
      // A busy machine is no failure, so that this is for people.
      if (asked !== undefined) process.stdout.write(reportText(report));
      await expect.poll(threads).toBeLessThanOrEqual(before);
      process.off("unhandledRejection", note);
      expect(rejections).toEqual([]);
    },
  );
});
