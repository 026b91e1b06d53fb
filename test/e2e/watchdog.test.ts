import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Watchdog, startWatchdog } from "../../packages/edge/src/dev/watchdog.ts";

let server: Server;
let status: number;
let asked: number;
let watchdog: Watchdog;
const restart = vi.fn<() => Promise<void>>(async () => {});

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  [status, asked] = [503, 0];
  server = createServer((_, response) => {
    asked++;
    response.writeHead(status).end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  restart.mockClear();
  watchdog = await startWatchdog([{ url: `http://127.0.0.1:${port}`, restart }]);
});

afterEach(async () => {
  vi.useRealTimers();
  await watchdog.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
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
