import { type AuditSink, blake3Hash, createKernel, type EventRecord, memorySink } from "@keyhole/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readCheckpointText, rowsAt } from "../../packages/kernel/src/audit/checkpoint-in.ts";
import { AuditLog } from "../../packages/kernel/src/audit/log.ts";
import { eventScope, kernelScope } from "../../packages/kernel/src/audit/scope.ts";
import { checkpointText, type StateCheckpoint } from "../../packages/kernel/src/audit/state-checkpoint.ts";
import { SlidingWindows } from "../../packages/kernel/src/state/sliding-windows.ts";
import { SteadyClock } from "../../packages/kernel/src/state/steady-clock.ts";
import { StateTable } from "../../packages/kernel/src/state/table.ts";
import { settle } from "../support/fake-clock.ts";
import { sized } from "../support/size.ts";

/** What a process leaves behind, and what the next one read of it. */
function store(): AuditSink & { text: string | undefined; records: EventRecord[]; eventsRead: number } {
  return {
    text: undefined,
    records: [],
    eventsRead: 0,
    open() {
      return { last: this.records.at(-1), cutBytes: 0, damage: null };
    },
    append(records) {
      this.records.push(...records);
    },
    read(fromSeq, limit) {
      const read = this.records.filter(({ seq }) => seq >= fromSeq).slice(0, limit);
      this.eventsRead += read.length;
      return read;
    },
    readCheckpoint() {
      return this.text;
    },
    writeCheckpoint(text) {
      this.text = text;
    },
  };
}

type Store = ReturnType<typeof store>;

/** All delays pass at once, and time goes on by itself. */
class Time {
  nowMs = 1_000_000;
  now = (): number => this.nowMs;
  monotonicMs = (): number => this.nowMs;
  after = (_: number, callback: () => void): (() => void) => {
    queueMicrotask(callback);
    return () => {};
  };
}

const rowTable = (): StateTable<number> =>
  new StateTable<number>({
    name: "test.rows",
    version: 1,
    maxRows: 3,
    whenFull: "forget-oldest",
    untilMs: (atMs) => atMs + 50,
    writtenMs: (atMs) => atMs,
    codec: { encode: (atMs) => atMs, decode: (value) => (typeof value === "number" ? value : undefined) },
  });

async function openOn(sink: AuditSink, time: Time, checkpointEvents: number) {
  const [rows, windows] = [rowTable(), new SlidingWindows("test.windows", 3)];
  const steady = new SteadyClock(time);
  const tables = [rows, windows];
  const log = await AuditLog.open({ sink, clock: time, hash: blake3Hash, tables, steady, checkpointEvents });
  return { log, rows, windows, steady, tables };
}

const snapshot = { snapshotId: "00000000-0000-7000-8000-000000000000" };
const registered = { tool: "echo@1.0.0", toolHash: blake3Hash.zero };

const step = fc.oneof(
  fc.record({ kind: fc.constant("put" as const), key: fc.constantFrom("a", "b", "c", "d") }),
  fc.record({ kind: fc.constant("remove" as const), key: fc.constantFrom("a", "b", "c", "d") }),
  fc.record({
    kind: fc.constant("spend" as const),
    key: fc.constantFrom("w", "x"),
    amount: fc.integer({ min: 1, max: 3 }),
  }),
  fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 40 }) }),
  fc.record({ kind: fc.constant("sweep" as const) }),
  fc.record({ kind: fc.constant("restart" as const) }),
  fc.record({ kind: fc.constant("later" as const) }),
  fc.record({ kind: fc.constantFrom("begin" as const, "end" as const), call: fc.constantFrom("1", "2", "3") }),
);

describe("a log that is opened at a checkpoint", () => {
  it("has the state of one that is read whole, whatever happened before, and is found sound", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 5, maxLength: 60 }),
        fc.integer({ min: 1, max: 9 }),
        async (steps, every) => {
          const [sink, time] = [store(), new Time()];
          let at = await openOn(sink, time, every);
          for (const each of steps) {
            const { log, rows, windows, steady } = at;
            if (each.kind === "put")
              log.record("tool.registered", kernelScope, registered, rows.put(each.key, steady.now()));
            else if (each.kind === "remove")
              log.record("tool.registered", kernelScope, registered, rows.remove(each.key));
            else if (each.kind === "later") log.changeNow(rows.put("a", steady.now()));
            else if (each.kind === "wait") time.nowMs += each.ms;
            else if (each.kind === "sweep") for (const table of at.tables) table.expire(steady.now());
            else if (each.kind === "spend") {
              const spent = windows.spend(each.key, 60, each.amount, steady.now());
              log.record("tool.registered", kernelScope, registered, [windows.changeOf(each.key, 60, spent)]);
              spent.isOpen = each.amount === 3;
            } else if (each.kind === "restart") {
              await log.flush();
              at = await openOn(sink, time, every);
              expect(await at.log.verifyEarlier()).toBeNull();
            } else {
              const scope = eventScope(each.call, "s", null);
              log.record(each.kind === "begin" ? "tool.resumed" : "tool.suspended", scope, snapshot);
            }
            await at.log.flush();
          }
          const text = sink.text;
          const nowMs = at.steady.now();
          const short = await openOn(sink, time, Infinity);
          expect(await short.log.verifyEarlier()).toBeNull();
          expect(short.log.damage).toBeNull();
          sink.text = undefined;
          const whole = await openOn(sink, time, Infinity);
          expect(rowsAt(short.tables, nowMs)).toEqual(rowsAt(whole.tables, nowMs));
          sink.text = text;
        },
      ),
      { numRuns: sized(200, 5_000) },
    );
  });

  it.each([1_000, 10_000])("reads what lies behind the checkpoint alone, of %d events", async (events) => {
    const [sink, time] = [store(), new Time()];
    const { log, rows } = await openOn(sink, time, 100);
    for (let i = 0; i < events; i++) {
      log.record("tool.registered", kernelScope, registered, i % 50 === 0 ? rows.put("a", time.nowMs) : []);
      await log.flush();
    }
    sink.eventsRead = 0;
    const { rows: again } = await openOn(sink, time, 100);
    expect(again.get("a")).toBe(time.nowMs);
    expect(sink.eventsRead).toBeLessThanOrEqual(101);
  });

  it("ends a call that was open before the checkpoint", async () => {
    const sink = await longLog();
    await openOn(sink, new Time(), 10);
    expect(
      sink.records.filter(({ body }) => body.includes('"type":"tool.lost"') && body.includes('"callId":"lost"')),
    ).toHaveLength(1);
  });
});

/** A call that never ended, a row, and some events behind them. */
async function longLog(): Promise<Store> {
  const [sink, time] = [store(), new Time()];
  const { log, rows } = await openOn(sink, time, 10);
  log.record("tool.resumed", eventScope("lost", "s", null), snapshot);
  log.record("tool.registered", kernelScope, registered, rows.put("a", time.nowMs));
  for (let i = 0; i < 25; i++) {
    log.record("tool.registered", kernelScope, registered);
    await log.flush();
  }
  return sink;
}

const resealed = (body: string): string => blake3Hash.text(body) + body;

const parsed = ({ text }: Store): StateCheckpoint => readCheckpointText(text ?? "", blake3Hash)!;

describe("a checkpoint that somebody changed", () => {
  it.each<[string, (checkpoint: StateCheckpoint) => Partial<StateCheckpoint>]>([
    ["has lost a row", () => ({ rows: [] })],
    [
      "has another row",
      ({ rows }) => ({ rows: rows.map(([table, version, key]) => [table, version, key, 1_000_001] as const) }),
    ],
    ["has lost an open call", () => ({ openCalls: [] })],
    ["has a row more", ({ rows }) => ({ rows: [...rows, ["test.rows", 1, "b", 1_000_000]] })],
  ])("is found out beside the calls: it %s", async (_, change) => {
    const sink = await longLog();
    const checkpoint = parsed(sink);
    expect(checkpoint).toMatchObject({ rows: [["test.rows", 1, "a", 1_000_000]], openCalls: [["lost", "s", null]] });
    sink.text = checkpointText({ ...checkpoint, ...change(checkpoint) }, blake3Hash);
    const { log } = await openOn(sink, new Time(), Infinity);
    expect(log.damage).toBeNull();
    expect(await log.verifyEarlier()).toBe("The checkpoint of the log contradicts its events.");
  });

  it.each<[string, (text: string) => string]>([
    ["torn", (text) => text.slice(0, -10)],
    ["empty", () => ""],
    ["none", () => "hello"],
    ["with another digest", (text) => text.replace('"seq":', '"seq": ')],
    ["of an earlier version", (text) => resealed(text.slice(text.indexOf("{")).replace('"v":2}', '"v":1}'))],
    ["of another log", (text) => text.replace(/"hash":"blake3:..../, '"hash":"blake3:0000')],
  ])("is not used: %s", async (_, change) => {
    const sink = await longLog();
    sink.text = change(sink.text!);
    sink.eventsRead = 0;
    const { log, rows } = await openOn(sink, new Time(), Infinity);
    expect([log.damage, rows.get("a")]).toEqual([null, 1_000_000]);
    expect(sink.eventsRead).toBeGreaterThanOrEqual(27);
    expect(await log.verifyEarlier()).toBeNull();
  });

  it("is not used where its event is not in the log", async () => {
    const sink = await longLog();
    const { seq } = parsed(sink);
    sink.text = checkpointText({ ...parsed(sink), seq: seq - 1, rows: [] }, blake3Hash);
    expect((await openOn(sink, new Time(), Infinity)).rows.get("a")).toBe(1_000_000);
    sink.text = checkpointText({ ...parsed(sink), seq: 1_000, rows: [] }, blake3Hash);
    expect((await openOn(sink, new Time(), Infinity)).rows.get("a")).toBe(1_000_000);
  });
});

describe("what lies before a checkpoint", () => {
  it.each<[string, (records: EventRecord[]) => unknown, string]>([
    [
      "was changed",
      (records) => (records[3] = { ...records[3]!, body: records[3]!.body.replace("echo@", "ECHO@") }),
      "Event 3 of the log was changed.",
    ],
    ["is gone", (records) => records.splice(0, 3), "Event 0 of the log is missing."],
    ["was cut out", (records) => records.splice(3, 1, records[2]!), "Event 3 of the log is missing."],
  ])("locks the kernel when it %s", async (_, change, damage) => {
    const sink = await longLog();
    change(sink.records);
    const { log } = await openOn(sink, new Time(), Infinity);
    expect(await log.verifyEarlier()).toBe(damage);
    const locked = Promise.withResolvers<void>();
    const kernel = await createKernel({ sink });
    kernel.audit.subscribe(({ type }) => type === "mode.changed" && locked.resolve());
    await locked.promise;
    expect(kernel.mode).toBe("LOCKDOWN");
    expect((await kernel.health()).log.earlier).toBe("damaged");
    await kernel.close();
  });

  it("is not read where the kernel is told so; what lies behind is", async () => {
    const sink = await longLog();
    const { seq } = parsed(sink);
    sink.records[3] = { ...sink.records[3]!, body: sink.records[3]!.body.replace("echo@", "ECHO@") };
    sink.eventsRead = 0;
    const clock = new Time();
    const kernel = await createKernel({ sink, verifyEarlier: false, clock });
    await settle();
    expect(sink.eventsRead).toBeLessThanOrEqual(sink.records.length - seq + 1);
    expect(kernel.mode).toBe("NORMAL");
    expect((await kernel.health()).log.earlier).toBe("unverified");
    await kernel.close();
    sink.records[seq + 1] = { ...sink.records[seq + 1]!, hash: blake3Hash.zero };
    expect((await createKernel({ sink, verifyEarlier: false, clock })).mode).toBe("LOCKDOWN");
  });

  it.each<[string, (sink: Store) => void, (kernel: { close(): unknown }) => unknown, string]>([
    ["verified", () => {}, () => {}, "verified"],
    ["damaged", (sink) => sink.records.splice(3, 1), () => {}, "damaged"],
    ["not read to its end", () => {}, (kernel) => kernel.close(), "unverified"],
  ])("tells the program that it was %s", async (_, damage, then, earlier) => {
    const sink = await longLog();
    damage(sink);
    const ended = Promise.withResolvers<string>();
    const kernel = await createKernel({ sink, verifyEarlier: ended.resolve });
    await then(kernel);
    expect(await ended.promise).toBe(earlier);
    expect(kernel.mode).toBe(earlier === "damaged" ? "LOCKDOWN" : "NORMAL");
    await kernel.close();
  });

  it("is read no longer when the kernel is closed", async () => {
    const sink = await longLog();
    const { log } = await openOn(sink, new Time(), Infinity);
    sink.eventsRead = 0;
    await log.close(async () => {});
    expect(await log.verifyEarlier()).toBeNull();
    expect(sink.eventsRead).toBe(0);
  });
});

describe("a sink that cannot keep a checkpoint", () => {
  it("loses nothing: the log is read whole", async () => {
    const sink = {
      ...memorySink(),
      writeCheckpoint: () => Promise.reject(new Error("full")),
      readCheckpoint: () => Promise.reject(new Error("gone")),
    };
    const time = new Time();
    const { log, rows } = await openOn(sink, time, 1);
    log.record("tool.registered", kernelScope, registered, rows.put("a", time.nowMs));
    await log.flush();
    expect((await openOn(sink, time, 1)).rows.get("a")).toBe(time.nowMs);
  });
});
