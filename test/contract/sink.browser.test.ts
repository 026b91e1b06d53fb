import { hashText, lineOf } from "@keyhole/kernel";
import { type IndexedDbSink, indexedDbSink } from "@keyhole/worker-host/sinks/indexeddb";
import { describe, expect, it, vi } from "vitest";
import { describeSink } from "./sink.ts";

let databases = 0;

async function inStore(database: string, use: (events: IDBObjectStore) => void): Promise<void> {
  const connection = await new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open(database);
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error!));
  });
  const transaction = connection.transaction("events", "readwrite");
  use(transaction.objectStore("events"));
  await new Promise((resolve) => transaction.addEventListener("complete", resolve));
  connection.close();
}

describeSink("IndexedDB", { keeps: true }, () => {
  const database = `sink-contract-${databases++}`;
  let sink: IndexedDbSink | undefined;
  return {
    open: () => (sink = indexedDbSink({ database })),
    close: () => sink?.close(),
    tamper: (seq, line) =>
      inStore(database, (events) => void (line === undefined ? events.delete(seq) : events.put(line, seq))),
  };
});

describe("a log in IndexedDB", () => {
  const recordOf = (seq: number) => {
    const body = `{"seq":${seq}}`;
    return { seq, body, hash: hashText(body) };
  };

  it("has one writer, and opens for the next once that one has closed", async () => {
    const database = `sink-contract-${databases++}`;
    const [first, second] = [indexedDbSink({ database }), indexedDbSink({ database })];
    await first.open();
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    const refused = expect(second.open()).rejects.toThrow(`Another page of this origin writes the log ${database}.`);
    vi.advanceTimersByTime(5_000);
    vi.useRealTimers();
    await refused;
    await first.append([recordOf(0)]);
    const waiting = second.open();
    first.close();
    expect(await waiting).toMatchObject({ last: { seq: 0 }, damage: null });
    second.close();
  });

  it("without locks lets the first of two writers win, whole", async () => {
    const database = `sink-contract-${databases++}`;
    const [first, second] = [indexedDbSink({ database }), indexedDbSink({ database })];
    vi.spyOn(navigator, "locks", "get").mockReturnValue(undefined as never);
    await first.open();
    await second.open();
    vi.restoreAllMocks();
    await first.append([recordOf(0), recordOf(1)]);
    await expect(second.append([recordOf(0), recordOf(1), recordOf(2)])).rejects.toThrow("another writer wrote");
    expect(await second.read(0, 10)).toEqual([recordOf(0), recordOf(1)]);
    first.close();
    second.close();
  });

  it("that is closed, or not yet open, takes nothing", async () => {
    const sink = indexedDbSink({ database: `sink-contract-${databases++}` });
    await expect(sink.append([recordOf(0)])).rejects.toThrow("not open");
    await sink.open();
    sink.close();
    await expect(sink.append([recordOf(0)])).rejects.toThrow("not open");
  });

  const circle: unknown[] = [];
  circle.push(circle);

  it.each<[string, unknown]>([
    ["text", "nothing of ours"],
    ["data", { seq: 1 }],
    ["another event", lineOf(recordOf(0))],
    ["what is no JSON", 1n],
    ["what goes round in circles", circle],
  ])("whose last event was overwritten with %s says so, and goes on behind it", async (_, value) => {
    const database = `sink-contract-${databases++}`;
    const sink = indexedDbSink({ database });
    await sink.open();
    await sink.append([recordOf(0), recordOf(1)]);
    await inStore(database, (events) => void events.put(value, 1));
    expect(await sink.open()).toMatchObject({ last: { seq: 1 }, damage: "Event 1 of the log was overwritten." });
    await sink.append([recordOf(2)]);
    sink.close();
  });

  it.each<[string, IDBValidKey, number]>([
    ["a text", "1", 2],
    ["a date", new Date(0), 2],
    ["a list", [0], 2],
    ["a broken number", 1.5, 3],
    ["a number below all", -1, 2],
  ])("to which somebody added under %s says so, and goes on behind it", async (_, key, next) => {
    const database = `sink-contract-${databases++}`;
    const sink = indexedDbSink({ database });
    await sink.open();
    await sink.append([recordOf(0), recordOf(1)]);
    await inStore(database, (events) => void events.put(lineOf(recordOf(7)), key));
    const { last, damage } = await sink.open();
    expect(damage).toMatch(
      /^(?:The log has 3 events, and its last one is event 1|Event 2 of the log was overwritten)\.$/,
    );
    expect(last?.seq).toBe(next - 1);
    await sink.append([recordOf(next)]);
    expect(await sink.read(next, 10)).toEqual([recordOf(next)]);
    sink.close();
  });

  it("in which only other things are is damaged, and not a new one", async () => {
    const database = `sink-contract-${databases++}`;
    const sink = indexedDbSink({ database });
    await sink.open();
    await inStore(database, (events) => void events.put("something", "key"));
    expect(await sink.open()).toEqual({
      last: undefined,
      cutBytes: 0,
      damage: "The log has 1 events, and none is in its place.",
    });
    sink.close();
  });
});
