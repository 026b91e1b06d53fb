import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lineOf } from "@keyhole/kernel";
import { fileSink } from "@keyhole/worker-host/node";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { recordsOf } from "./log-of.ts";

let folder: string;
let path: string;
let files = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "keyhole-log-"));
});
beforeEach(() => {
  path = join(folder, `${files++}.jsonl`);
});
afterAll(() => rm(folder, { recursive: true }));

const records = await recordsOf(6);

describe("a batch of a log file", () => {
  it.each([
    ["is on the disk before it is reported as written", {}, 2],
    ["is left to the operating system where the options say so", { fsync: "never" }, 0],
  ] as const)("%s", async (_, options, syncs) => {
    const sink = fileSink(path, options);
    await sink.open();
    const handle = await open(path);
    let synced = 0;
    const datasync = vi.spyOn(Object.getPrototypeOf(handle) as typeof handle, "datasync");
    // Ends later than all other steps: a sink that does not wait for it is seen.
    datasync.mockImplementation(async () => {
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      synced++;
    });
    try {
      await sink.append(records.slice(0, 2));
      await sink.append(records.slice(2, 3));
      expect(synced).toBe(syncs);
      expect(await readFile(path, "utf8")).toBe(
        records
          .slice(0, 3)
          .map((record) => `${lineOf(record)}\n`)
          .join(""),
      );
    } finally {
      datasync.mockRestore();
      await handle.close();
      await sink.close();
    }
  });

  it("is on the disk a second later where the options say so, or fails the next one, and closing waits", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const sink = fileSink(path, { fsync: "second" });
    await sink.open();
    const handle = await open(path);
    const datasync = vi.spyOn(Object.getPrototypeOf(handle) as typeof handle, "datasync").mockResolvedValue();
    try {
      await sink.append(records.slice(0, 1));
      await sink.append(records.slice(1, 2));
      for (const [ms, syncs] of [[999, 0] as const, [1, 1] as const, [9_000, 1] as const]) {
        await vi.advanceTimersByTimeAsync(ms);
        expect(datasync).toHaveBeenCalledTimes(syncs);
      }
      datasync.mockRejectedValue(new Error("ENOSPC"));
      await sink.append(records.slice(2, 3));
      await vi.advanceTimersByTimeAsync(1_000);
      await expect(sink.append(records.slice(3, 4))).rejects.toThrow("ENOSPC");
      await sink.close();
      const late = Promise.withResolvers<void>();
      datasync.mockReturnValue(late.promise);
      for (const [at, waitMs] of [[3, 1_000] as const, [4, 0] as const]) {
        const other = fileSink(path, { fsync: "second" });
        await other.open();
        await other.append(records.slice(at, at + 1));
        await vi.advanceTimersByTimeAsync(waitMs);
        late.reject(new Error("ENOSPC"));
        await expect(other.close()).rejects.toThrow("ENOSPC");
      }
    } finally {
      vi.useRealTimers();
      datasync.mockRestore();
      await handle.close();
    }
  });

  it("is on the disk before the log is opened again, and no timer meets the closed file", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const sink = fileSink(path, { fsync: "second" });
    await sink.open();
    const handle = await open(path);
    const datasync = vi.spyOn(Object.getPrototypeOf(handle) as typeof handle, "datasync");
    try {
      await sink.append(records.slice(0, 1));
      await sink.open();
      expect(datasync).toHaveBeenCalledOnce();
      await sink.append(records.slice(1, 2));
      await vi.advanceTimersByTimeAsync(1_000);
      await sink.append(records.slice(2, 3));
      await sink.close();
      expect(datasync).toHaveBeenCalledTimes(3);
    } finally {
      vi.useRealTimers();
      datasync.mockRestore();
      await handle.close();
    }
  });
});
