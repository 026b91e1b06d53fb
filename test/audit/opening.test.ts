import { mkdtemp, open, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileSink } from "@keyhole/worker-host/node";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { sized } from "../support/size.ts";
import { eventsBehind, openLong, writeLong } from "./long-log.ts";

/* What is read when a kernel opens a log file: what lies behind the checkpoint, however long the log is. */

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "keyhole-opening-"))));
afterAll(() => rm(folder, { recursive: true }));

/** Of a file of its own that is opened. */
async function readAtOpening(events: number): Promise<{ readonly events: number; readonly bytes: number }> {
  const path = join(folder, `${events}.jsonl`);
  const written = fileSink(path, { fsync: "never" });
  await writeLong(written, events);
  await written.close();
  const handle = await open(path);
  const read = vi.spyOn(Object.getPrototypeOf(handle) as typeof handle, "read");
  await handle.close();
  const sink = fileSink(path, { fsync: "never" });
  const readEvents = vi.spyOn(sink, "read");
  const beganMs = performance.now();
  const { log, row } = await openLong(sink);
  const tookMs = performance.now() - beganMs;
  expect(row).toBeTypeOf("number");
  expect(log.damage).toBeNull();
  expect(log.end.seq).toBe(events);
  const of = async (results: readonly { readonly value: unknown }[]): Promise<readonly unknown[]> =>
    Promise.all(results.map(({ value }) => value));
  const chunks = (await of(read.mock.results)) as readonly { readonly bytesRead: number }[];
  const pages = (await of(readEvents.mock.results)) as readonly (readonly unknown[])[];
  vi.restoreAllMocks();
  await sink.close();
  const checkpoint = await stat(`${path}.checkpoint`).catch(() => ({ size: 0 }));
  const { size } = await stat(path);
  const bytes = chunks.reduce((sum, { bytesRead }) => sum + bytesRead, checkpoint.size);
  process.stdout.write(`${events} events, ${size} bytes: ${bytes} bytes read, ready after ${tookMs.toFixed(1)} ms\n`);
  return { events: pages.reduce((sum, page) => sum + page.length, 0), bytes };
}

it("reads as much of a log of 10⁶ events as of one of 10⁴", { timeout: 900_000 }, async () => {
  const short = await readAtOpening(1_000);
  const all = [];
  for (const events of sized([10_500, 40_500], [10_500, 100_500, 1_000_500])) all.push(await readAtOpening(events));
  expect(short.events).toBe(1_000);
  for (const each of all) {
    // The event of the checkpoint is looked at as well.
    expect(each.events).toBe(eventsBehind + 1);
    // Numbers have more digits in a longer log.
    expect(each.bytes).toBeLessThan(all[0]!.bytes * 1.05);
  }
});
