import { processSpawn } from "@keyhole/kernel/families";
import { wasmHost, withWasiCommands } from "@keyhole/worker-host/wasm";
import { filesBroker, memoryStore } from "@keyhole/worker-host/brokers/files";
import { describe, expect, it } from "vitest";
import { FileRoom, OpenFile } from "../../packages/worker-host/src/wasm/wasi/file.ts";
import { Collected } from "../../packages/worker-host/src/wasm/wasi/streams.ts";
import { openSession } from "../brokers/session.ts";
import { type Bytes, bytesOf } from "../wasm/bytes.ts";

/**
 * `fd_write(1, 0, BUFFERS, 16384)`, TURNS times: each buffer is empty, so that not one byte crosses.
 */
const template = bytesOf(
  "AGFzbQEAAAABDAJgBH9/f38Bf2AAAAIjARZ3YXNpX3NuYXBzaG90X3ByZXZpZXcxCGZkX3dyaXRlAAADAgEBBQMBAAEHEwIGbWVtb3J5AgAGX3N0YXJ0AAEKKwEpAQF/QYCAgIAAIQADQEEBQQBBgICAgABBgIABEAAaIABBAWsiAA0ACws=",
);

/** `random_get(0, BYTES)`, TURNS times. */
const drawing = bytesOf(
  "AGFzbQEAAAABCgJgAn9/AX9gAAACJQEWd2FzaV9zbmFwc2hvdF9wcmV2aWV3MQpyYW5kb21fZ2V0AAADAgEBBQMBAAEHEwIGbWVtb3J5AgAGX3N0YXJ0AAEKJQEjAQF/QYCAgIAAIQADQEEAQYCAgIAAEAAaIABBAWsiAA0ACws=",
);

/** Opens a new file, and sets its size to 16,777,216 bytes and to one byte less in turn, without an end. */
const resizing = bytesOf(
  "AGFzbQEAAAABHwRgCX9/f39/fn5/fwF/YAJ/fgF/YAR/f39/AX9gAAACdAMWd2FzaV9zbmFwc2hvdF9wcmV2aWV3MQlwYXRoX29wZW4AABZ3YXNpX3NuYXBzaG90X3ByZXZpZXcxFGZkX2ZpbGVzdGF0X3NldF9zaXplAAEWd2FzaV9zbmFwc2hvdF9wcmV2aWV3MQhmZF93cml0ZQACAwIBAwUDAQABBxMCBm1lbW9yeQIABl9zdGFydAADCkgBRgEBf0EDQQBBAEEBQQlC/////wNCAEEAQRAQAARAAAtBECgCACEAA0AgAEKAgIAIEAEEQAALIABC////BxABBEAACwwACwsLHwMAQQALAXgAQeQACwRudWxsAEHAAAsIZAAAAAQAAAA=",
);

const writes = (turns: number, buffers: number): Bytes => patched(template, [97, turns], [111, buffers]);
const draws = (turns: number, bytes: number): Bytes => patched(drawing, [97, turns], [109, bytes]);

/** Numbers stand in five bytes each (LEB128). */
function patched(of: Bytes, ...numbers: readonly (readonly [at: number, value: number])[]): Bytes {
  const module = of.slice();
  for (const [at, value] of numbers)
    for (let i = 0; i < 5; i++) module[at + i] = ((value >>> (7 * i)) & 127) | (i < 4 ? 128 : 0);
  return module;
}

async function run(module: Uint8Array, fuel: number): Promise<unknown> {
  const host = withWasiCommands(wasmHost({ brokers: [filesBroker(memoryStore())] }), {
    commands: { writes: { module, fuel } },
  });
  const broker = host.brokers.find(({ families }) => families.includes(processSpawn))!;
  const reply = await broker.serve(
    { kind: "process.spawn", operation: "run", arguments: { command: "writes", args: [] } },
    openSession({
      grants: [
        { kind: "process.spawn", commands: [{ command: "writes" }] },
        { kind: "fs.write", paths: ["**"] },
      ],
    }),
  );
  return reply.ok ? reply.value : reply.error;
}

const fuelOf = async (module: Bytes): Promise<number> =>
  ((await run(module, 1_000_000_000)) as { readonly fuelUsed: number }).fuelUsed;

describe("what a module has its host do without a byte that crosses", () => {
  it("is free a thousand times, and costs fuel from then on", async () => {
    const [one, two, most, over] = await Promise.all([1, 2, 500, 501].map((turns) => fuelOf(writes(turns, 1))));
    const turn = two! - one!;
    // A call and a buffer each.
    expect(most! - one!).toBe(499 * turn);
    expect(over! - most!).toBe(turn + 2 * 2_000);
  });

  it("is as much for 16 random bytes, which take the host far longer than the guest", async () => {
    const bytes = 65_536;
    const [most, over] = await Promise.all([4, 5].map((turns) => fuelOf(draws(turns, bytes))));
    expect(over! - most!).toBeGreaterThan((bytes / 16) * 2_000);
    const [one, two] = await Promise.all([1, 2].map((turns) => fuelOf(draws(turns, 16))));
    expect(two! - one!).toBeLessThan(100);
  });

  it("ends with its fuel, and holds nothing of its host's", async () => {
    const before = process.memoryUsage().rss;
    expect(await run(writes(2 ** 31 - 1, 1_024), 200_000)).toMatchObject({ code: "BOUNDS_EXCEEDED" });
    expect(await run(writes(2 ** 31 - 1, 1), 20_000_000)).toMatchObject({ code: "BOUNDS_EXCEEDED" });
    expect(process.memoryUsage().rss - before).toBeLessThan(500_000_000);
  });

  it("is paid for by the byte where the host copies or clears a file", async () => {
    const paid: number[] = [];
    const room = new FileRoom((byteLength) => paid.push(byteLength));
    const content = new Uint8Array(100);
    const { fd_obj: file } = OpenFile.open(() => 0, content, room, { isWritten: true, appends: false });
    if (file === null) throw new Error("no room");
    for (const size of [1_000n, 999n, 10n]) expect(file.fd_filestat_set_size(size)).toBe(0);
    file.fd_pwrite(new Uint8Array(1), 4_999n);
    file.fd_sync();
    expect(paid.filter((each) => each > 0)).toEqual([100, 1_000, 999, 10, 5_000, 5_000]);
    // Three copies of 16 MiB; for 2,000 fuel each they were 25,000.
    expect(await run(resizing, 50_331_648)).toMatchObject({ code: "BOUNDS_EXCEEDED" });
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
