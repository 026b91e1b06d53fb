import { type ChildProcess, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { afterEach, describe, expect, it } from "vitest";
import { Runtime } from "../../packages/edge/src/dev/runtime.ts";

type Opening = () => Promise<URL>;

const serves: Opening = async () => new URL("http://127.0.0.1:1/");
const never: Opening = () => new Promise(() => {});
const fails: Opening = () => Promise.reject(new Error("The port is taken."));

const children: ChildProcess[] = [];
const runtimes: Runtime[] = [];
/** The folders that instances found for their temporary files. */
const temporary = new Set<string>();
afterEach(async () => {
  await Promise.all(runtimes.splice(0).map((each) => each.stop()));
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** A runtime whose starts go as the openings say, one after the other; the last one for all that follow. Each has a process. */
function runtimeOf(openings: readonly Opening[], giveUpMs: number) {
  const lost: string[] = [];
  let starts = 0;
  class Miniflare {
    readonly ready = Promise.resolve();
    readonly #child = spawn(process.execPath, ["--eval", "setInterval(() => {}, 1e6)"], { stdio: "ignore" });
    constructor() {
      children.push(this.#child);
      temporary.add(tmpdir());
    }
    unsafeGetDirectURL(): Promise<URL> {
      return openings[Math.min(starts++, openings.length - 1)]!();
    }
    async dispose(): Promise<void> {
      this.#child.kill("SIGKILL");
    }
  }
  const runtime = new Runtime({
    name: "The kernel",
    worker: { name: "kernel", options: {} },
    miniflare: { Miniflare, Log: class extends Object {}, convertV4MiniflareOptions: (options) => options },
    keeper: { hold: () => {}, release: () => {} },
    port: 0,
    state: "",
    registry: tmpdir(),
    scratch: "/scratch",
    onLost: (reason) => lost.push(reason),
    times: { giveUpMs, startMs: 5, longestStartMs: 20 },
  });
  runtimes.push(runtime);
  return { runtime, lost, starts: () => starts };
}

describe("a runtime", () => {
  it("has its temporary files where the caller removes them", async () => {
    const before = tmpdir();
    await runtimeOf([serves], 0).runtime.start();
    expect([[...temporary], tmpdir()]).toEqual([["/scratch"], before]);
  });

  it.each([
    ["is late", never, "It did not start within"],
    ["fails", fails, "The port is taken."],
  ])("whose first start %s is not there", async (_, opening, reason) => {
    await expect(runtimeOf([opening], 0).runtime.start()).rejects.toThrow(reason);
  });

  it("that ended is started until it is there, however late the starts are", async () => {
    const { runtime, lost, starts } = runtimeOf([serves, never, never, never, never, serves], 0);
    await runtime.start();
    await expect.poll(() => runtime.pid).toBeDefined();
    process.kill(runtime.pid!, "SIGKILL");
    await expect.poll(starts).toBe(6);
    expect(lost).toEqual([]);
  });

  it("that ended, and whose starts fail for as long as is waited, is given up with the reason", async () => {
    const { runtime, lost } = runtimeOf([serves, fails], 0);
    await runtime.start();
    await expect.poll(() => runtime.pid).toBeDefined();
    process.kill(runtime.pid!, "SIGKILL");
    await expect.poll(() => lost).toEqual(["The kernel does not come back: The port is taken."]);
  });
});
