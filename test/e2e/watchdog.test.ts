import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { computedMs as computedMsOf } from "../../packages/edge/src/dev/process-time.ts";
import { type Watchdog, startWatchdog } from "../../packages/edge/src/dev/watchdog.ts";

let server: Server;
let status: number;
let asked: number;
/** What the sandbox's process has computed, at each look. */
let computedMs: () => number | undefined;
let watchdog: Watchdog;
const restart = vi.fn<() => Promise<void>>(async () => {});

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  [status, asked] = [503, 0];
  computedMs = () => undefined;
  server = createServer((_, response) => {
    asked++;
    if (status > 0) response.writeHead(status).end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  restart.mockClear();
  const sandbox = {
    url: `http://127.0.0.1:${port}`,
    restart,
    get computedMs() {
      return computedMs();
    },
  };
  watchdog = await startWatchdog([sandbox]);
});

afterEach(async () => {
  vi.useRealTimers();
  await watchdog.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

it("a process that computes is seen to compute, and one that has ended is not", () => {
  const before = computedMsOf(process.pid);
  expect(before !== undefined).toBe(process.platform === "linux");
  for (let i = 0; before !== undefined && computedMsOf(process.pid)! < before + 100; i++) Math.sqrt(i);
  expect(computedMsOf(2 ** 30)).toBeUndefined();
});

describe("the sandbox's watchdog", () => {
  // A runtime that is ended while it starts takes wrangler with it, whose write of the configuration fails.
  it.each(["suspected", "certain"])("lets a sandbox start, also when it is told of a standstill: %s", async (what) => {
    await vi.advanceTimersByTimeAsync(10_000);
    await fetch(`${watchdog.url}/${what}/0`, { method: "POST" });
    expect(asked).toBe(0);
    expect(restart).not.toHaveBeenCalled();
  });

  it("ends one that has started and answers no longer", async () => {
    watchdog.watch();
    await vi.advanceTimersByTimeAsync(1_000);
    await vi.waitUntil(() => restart.mock.calls.length > 0);
    expect(restart).toHaveBeenCalledOnce();
  });

  it("lets one that is being started again start, whatever it is told meanwhile", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    restart.mockReturnValueOnce(promise);
    watchdog.watch();
    for (let i = 0; i < 3; i++) await fetch(`${watchdog.url}/certain/0`, { method: "POST" });
    expect(restart).toHaveBeenCalledOnce();
    resolve();
  });

  it("lets one be that answers, also when it is suspected", async () => {
    status = 200;
    watchdog.watch();
    expect((await fetch(`${watchdog.url}/suspected/0`, { method: "POST" })).status).toBe(202);
    await vi.waitUntil(() => asked > 0);
    expect(restart).not.toHaveBeenCalled();
  });

  it("ends a suspected one that computes without an answer", async () => {
    let looks = 0;
    status = 0;
    computedMs = () => 100 * looks++;
    watchdog.watch();
    await fetch(`${watchdog.url}/suspected/0`, { method: "POST" });
    await vi.waitUntil(() => restart.mock.calls.length > 0);
    expect(looks).toBeGreaterThan(3);
  });

  it("lets a suspected one be that waits for its turn on a busy machine", async () => {
    let looks = 0;
    let answer = (): void => {};
    server.removeAllListeners("request").on("request", (_, response: ServerResponse) => {
      answer = () => void response.end();
    });
    computedMs = () => (++looks, 1_000);
    watchdog.watch();
    await fetch(`${watchdog.url}/suspected/0`, { method: "POST" });
    // Longer than one may compute.
    await vi.waitUntil(() => looks > 5, { timeout: 60_000 });
    expect(restart).not.toHaveBeenCalled();
    answer();
    // A second look begins only after the end of the first.
    const seen = looks;
    await vi.waitUntil(async () => {
      await fetch(`${watchdog.url}/suspected/0`, { method: "POST" });
      return looks > seen + 1;
    });
    expect(restart).not.toHaveBeenCalled();
  });

  it("ends one at once that is certain to stand still, without asking it", async () => {
    status = 200;
    watchdog.watch();
    expect((await fetch(`${watchdog.url}/certain/0`, { method: "POST" })).status).toBe(202);
    expect(restart).toHaveBeenCalledOnce();
    expect(asked).toBe(0);
  });

  it("knows no other path and no other method", async () => {
    watchdog.watch();
    for (const path of [
      "/",
      "/certain/0",
      `${new URL(watchdog.url).pathname}/certain/1`,
      new URL(watchdog.url).pathname,
    ])
      expect((await fetch(new URL(path, watchdog.url), { method: "POST" })).status).toBe(404);
    expect((await fetch(`${watchdog.url}/certain/0`)).status).toBe(404);
    expect(restart).not.toHaveBeenCalled();
  });
});
