import { nodeHost } from "@keyhole/worker-host/node";
import { expect, it } from "vitest";
import subject from "keyhole:../contract/tools/subject.ts";
import { openThread } from "../../packages/worker-host/src/node/thread-isolate.ts";
import { openKernel } from "../support/kernel.ts";

it.each([
  ["as it is", [subject.hash]],
  ["in the interpreter", []],
] as const)(
  "a thread that sends without end leaves each turn to others after a few messages: %s",
  async (_, trusted) => {
    const host = nodeHost({ trusted });
    const { kernel } = await openKernel({ host });
    kernel.register(subject);
    let count = 0;
    let inTurn = 0;
    let most = 0;
    let isOver = false;
    const turn = (): void => {
      inTurn = 0;
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    const onLog = (): void => {
      count += 1;
      inTurn += 1;
      most = Math.max(most, inTurn);
    };
    const result = await kernel.call("subject", { deed: "flood the log" }, { onLog, bounds: { timeoutMs: 120_000 } });
    isOver = true;
    expect(result).toMatchObject({ ok: true, data: "flooded" });
    expect(count).toBeGreaterThan(900);
    // Those that came in the turn, and as many that had waited for it.
    expect(most).toBeLessThanOrEqual(32);
    await kernel.close();
    await host.close();
  },
);

/** Says no more often than a call may, and longer lines than any shell sends. */
const shouter = `
  import { parentPort, workerData } from "node:worker_threads";
  parentPort.on("message", ({ type, call }) => {
    if (type === "load") parentPort.postMessage({ type: "loaded" });
    if (type !== "call") return;
    const line = (message) => ({ type: "log", callId: call.callId, level: "info", message });
    for (let i = 0; i < 40; i++) parentPort.postMessage(line("short"));
    for (let i = 0; i < 40; i++) parentPort.postMessage(line("long".repeat(250_000)));
    Atomics.store(workerData, 0, 1);
    Atomics.notify(workerData, 0);
  });
  parentPort.postMessage({ type: "ready", imports: true, wasm: true });
`;

it("a thread whose messages are too long is ended before all of them fill the memory", async () => {
  const workerData = new Int32Array(new SharedArrayBuffer(4));
  const url = new URL(`data:text/javascript,${encodeURIComponent(shouter)}`);
  const isolate = await openThread("shouter", "", { url, workerData, metered: false }, new Set());
  let isHeard = false;
  let isAliveAfterTurn: boolean | undefined;
  // Before anything that is put off to the end of the same turn.
  const turn = (): void => {
    if (isHeard) isAliveAfterTurn = isolate.alive;
    else setImmediate(turn);
  };
  const port = {
    signal: new AbortController().signal,
    log: () => void (isHeard = true),
    progress: () => {},
    request: async () => ({ ok: false, error: { code: "UNAVAILABLE", message: "", hint: "" } }) as const,
  };
  const call = { callId: "c", sessionId: "s", inputText: "{}", outputKind: "json", outputBytes: 9 } as const;
  const calling = isolate.call(
    { ...call, seed: "0".repeat(64), nowMs: 0, real: { clock: false, random: false } },
    port,
  );
  Atomics.wait(workerData, 0, 0);
  setImmediate(turn);
  expect(await calling).toMatchObject({ kind: "lost", reason: expect.stringContaining("protocol") });
  await expect.poll(() => isAliveAfterTurn).toBe(false);
});
