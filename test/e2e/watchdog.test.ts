import { type ChildProcess, spawn } from "node:child_process";
import { on, once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Watchdog, startWatchdog } from "../../scripts/serve/watchdog.mjs";

/** Starts a process that looks like a sandbox's runtime, says when it started and ended, and leaves it to others to end it. */
const starter = `
  const { spawn } = require("node:child_process");
  const runtime = spawn(process.execPath, ["-e", "setInterval(() => {}, 1e6)"], { argv0: "workerd serve ", stdio: "ignore" });
  runtime.on("spawn", () => console.log("started")).on("exit", () => console.log("ended"));
  process.stdin.resume().on("end", () => runtime.kill("SIGKILL") && process.exit());
`;

let parent: ChildProcess;
let lines: AsyncIterator<string[]>;
let server: Server;
let status: number;
let asked: number;
let watchdog: Watchdog;
const onLost = vi.fn<(problem: string) => void>();

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  [status, asked] = [503, 0];
  server = createServer((_, response) => {
    asked++;
    response.writeHead(status).end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  parent = spawn(process.execPath, ["-e", starter], { stdio: ["pipe", "pipe", "inherit"] });
  lines = on(createInterface(parent.stdout!), "line") as AsyncIterator<string[]>;
  await lines.next(); // "started"
  const { port } = server.address() as AddressInfo;
  const guarded = { pid: parent.pid!, exited: new Promise<number>(() => {}), output: () => "", stop: async () => {} };
  watchdog = await startWatchdog({ url: `http://127.0.0.1:${port}`, process: guarded }, onLost);
});

afterEach(async () => {
  vi.useRealTimers();
  await watchdog.stop();
  const ended = once(parent, "exit");
  parent.stdin!.end();
  await ended;
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

describe("the sandbox's watchdog", () => {
  // A runtime that is ended while it starts takes wrangler with it, whose write of the configuration fails.
  it.each(["suspected", "certain"])("lets a sandbox start, also when it is told of a standstill: %s", async (what) => {
    await vi.advanceTimersByTimeAsync(10_000);
    await fetch(`${watchdog.url}/${what}`, { method: "POST" });
    expect(asked).toBe(0);
    expect(watchdog.kills()).toBe(0);
  });

  it("ends one that has started and answers no longer", async () => {
    watchdog.watch();
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await lines.next()).value).toEqual(["ended"]);
    expect(watchdog.kills()).toBe(1);
    status = 200; // The next one answers.
  });

  it.each([
    ["lets one be that answers", "suspected", 200, 0],
    ["ends one at once that is certain to stand still", "certain", 200, 1],
  ])("%s", async (_, what, answer, kills) => {
    status = answer;
    watchdog.watch();
    expect((await fetch(`${watchdog.url}/${what}`, { method: "POST" })).status).toBe(202);
    await vi.waitUntil(() => asked > 0);
    expect(watchdog.kills()).toBe(kills);
  });

  it("knows no other path and no other method", async () => {
    watchdog.watch();
    for (const path of ["/", "/certain", new URL(watchdog.url).pathname])
      expect((await fetch(new URL(path, watchdog.url), { method: "POST" })).status).toBe(404);
    expect((await fetch(`${watchdog.url}/certain`)).status).toBe(404);
    expect(watchdog.kills()).toBe(0);
  });
});
