import { wasmHost, withWasiCommands } from "@keyhole/worker-host/wasm";
import { describe, expect, it } from "vitest";
import { Collected } from "../../packages/worker-host/src/wasm/wasi/streams.ts";
import { openSession } from "../brokers/session.ts";
import { bytesOf } from "../wasm/bytes.ts";

/**
 * `fd_write(1, 0, BUFFERS, 16384)`, TURNS times: each buffer is empty, so that not one byte crosses.
 */
const template = bytesOf(
  "AGFzbQEAAAABDAJgBH9/f38Bf2AAAAIjARZ3YXNpX3NuYXBzaG90X3ByZXZpZXcxCGZkX3dyaXRlAAADAgEBBQMBAAEHEwIGbWVtb3J5AgAGX3N0YXJ0AAEKKwEpAQF/QYCAgIAAIQADQEEBQQBBgICAgABBgIABEAAaIABBAWsiAA0ACws=",
);

/** Both numbers stand in five bytes each (LEB128). */
function writes(turns: number, buffers: number): Uint8Array<ArrayBuffer> {
  const module = template.slice();
  for (const [at, value] of [
    [97, turns],
    [111, buffers],
  ] as const)
    for (let i = 0; i < 5; i++) module[at + i] = ((value >>> (7 * i)) & 127) | (i < 4 ? 128 : 0);
  return module;
}

async function run(module: Uint8Array, fuel: number): Promise<unknown> {
  const host = withWasiCommands(wasmHost(), { commands: { writes: { module, fuel } } });
  const broker = host.brokers.find(({ kinds }) => kinds.includes("process.spawn"))!;
  const reply = await broker.serve(
    { kind: "process.spawn", operation: "run", arguments: { command: "writes", args: [] } },
    openSession({ grants: [{ kind: "process.spawn", commands: [{ command: "writes" }] }] }),
  );
  return reply.ok ? reply.value : reply.error;
}

const fuelOf = async (turns: number): Promise<number> =>
  ((await run(writes(turns, 1), 1_000_000_000)) as { readonly fuelUsed: number }).fuelUsed;

describe("what a module has its host do without a byte that crosses", () => {
  it("is free a thousand times, and costs fuel from then on", async () => {
    const [one, two, most, over] = await Promise.all([1, 2, 500, 501].map(fuelOf));
    const turn = two! - one!;
    // A call and a buffer each.
    expect(most! - one!).toBe(499 * turn);
    expect(over! - most!).toBe(turn + 2 * 2_000);
  });

  it("ends with its fuel, and holds nothing of its host's", async () => {
    const before = process.memoryUsage().rss;
    expect(await run(writes(2 ** 31 - 1, 1_024), 200_000)).toMatchObject({ code: "BOUNDS_EXCEEDED" });
    expect(await run(writes(2 ** 31 - 1, 1), 20_000_000)).toMatchObject({ code: "BOUNDS_EXCEEDED" });
    expect(process.memoryUsage().rss - before).toBeLessThan(500_000_000);
  });

  it("is in one piece of memory, however small the writes are", () => {
    let full = 0;
    const collected = new Collected(5, () => full++);
    const byte = new Uint8Array(1);
    for (let i = 1; i <= 6; i++) {
      byte[0] = i;
      collected.add(byte);
      collected.add(new Uint8Array());
    }
    expect([...collected.bytes(), full]).toEqual([1, 2, 3, 4, 5, 1]);
  });
});
