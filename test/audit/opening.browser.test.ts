import { indexedDbSink } from "@keyhole/worker-host/sinks/indexeddb";
import { expect, it, vi } from "vitest";
import { sized } from "../support/size.ts";
import { eventsBehind, openLong, writeLong } from "./long-log.ts";

it("reads of a long log the events behind its last checkpoint", async () => {
  for (const events of sized([10_500], [10_500, 100_500])) {
    const database = `opening-${events}`;
    const written = indexedDbSink({ database });
    await writeLong(written, events);
    written.close();
    const sink = indexedDbSink({ database });
    const getAll = vi.spyOn(IDBObjectStore.prototype, "getAll");
    const count = vi.spyOn(IDBObjectStore.prototype, "count");
    const { log, row } = await openLong(sink);
    expect([log.damage, row !== undefined, log.end.seq]).toEqual([null, true, events]);
    const pages = getAll.mock.results.map(({ value }) => ((value as IDBRequest).result as readonly unknown[]).length);
    const counts = count.mock.results.map(({ value }) => (value as IDBRequest<number>).result);
    vi.restoreAllMocks();
    sink.close();
    expect(pages.reduce((sum, length) => sum + length, 0)).toBe(eventsBehind + 1);
    for (const counted of counts) expect(counted).toBeLessThanOrEqual(eventsBehind + 1);
  }
});
