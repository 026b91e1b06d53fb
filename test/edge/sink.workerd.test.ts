import { runInDurableObject } from "cloudflare:test";
import { sqlSink } from "@keyhole/edge";
import {
  type AuditSink,
  type EarlierEvents,
  createKernel,
  type EventRecord,
  eventOf,
  hashText,
  lineOf,
  verifyChain,
} from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { ObjectClock } from "../../packages/edge/src/object/object-clock.ts";
import { dueVerification } from "../../packages/edge/src/object/sink.ts";
import { toolOf } from "../support/kernel.ts";
import { bindings } from "./bindings.ts";

let objects = 0;

/** Runs in a Durable Object of its own, whose log is empty. */
function inObject<Result>(use: (sink: AuditSink, storage: DurableObjectStorage) => Promise<Result>): Promise<Result> {
  const stub = bindings.KERNEL.getByName(`sink-${objects++}`);
  return runInDurableObject(stub, async (_, { storage }) => {
    storage.sql.exec("DROP TABLE IF EXISTS audit");
    return use(sqlSink(storage), storage);
  });
}

/** As far as a sink looks into it. */
function recordOf(seq: number): EventRecord {
  const body = `{"payload":"é\\u0000\u{1f642}","seq":${seq}}`;
  return { seq, body, hash: hashText(body) };
}
const recordsOf = (from: number, count: number): EventRecord[] =>
  Array.from({ length: count }, (_, i) => recordOf(from + i));

const rowsIn = ({ sql }: DurableObjectStorage): number =>
  sql.exec<{ rows: number }>("SELECT count(*) AS rows FROM audit").one().rows;

describe("the log in a Durable Object", () => {
  it.each([
    ["with a gap", [1]],
    ["with a gap inside", [0, 2]],
    ["twice the same", [0, 0]],
    ["backwards", [1, 0]],
  ])("refuses a batch %s, and keeps nothing of it", (_, seqs) =>
    inObject(async (sink) => {
      expect(() => sink.append(seqs.map(recordOf))).toThrow("the log expects seq");
      expect(await sink.read(0, 10)).toEqual([]);
      await sink.append(recordsOf(0, 1));
    }),
  );

  it("takes a batch of a thousand", () =>
    inObject(async (sink) => {
      await sink.append(recordsOf(0, 1_000));
      expect((await sink.open()).last?.seq).toBe(999);
    }));

  it("shares rows, and reads no more of them than it has to give", () =>
    inObject(async (sink, storage) => {
      await sink.append(recordsOf(0, 4));
      expect(rowsIn(storage)).toBe(1);
      // As an edge before this one has written them: a row for each.
      for (const record of recordsOf(4, 3))
        storage.sql.exec("INSERT INTO audit (seq, event) VALUES (?, ?)", record.seq, lineOf(record));
      await sink.append(recordsOf(7, 3_000));
      const { sizes } = storage.sql
        .exec<{ sizes: string }>("SELECT group_concat(length(event)) AS sizes FROM audit")
        .one();
      expect(Math.max(...sizes.split(",").map(Number))).toBeLessThanOrEqual(100_000);
      expect(rowsIn(storage)).toBeLessThan(12);
      for (const [from, limit] of [
        [0, 5],
        [2, 4],
        [5, 1],
        [900, 1_500],
        [3_006, 9],
        [3_007, 9],
      ] as const)
        expect(await sink.read(from, limit)).toEqual(recordsOf(from, Math.min(limit, 3_007 - from)));
      expect(await sink.open()).toMatchObject({ last: { seq: 3_006 }, damage: null });
    }));

  it("goes on with the chain after a restart, and ends what the crash left open", () =>
    inObject(async (sink, storage) => {
      const tool = toolOf(() => 1);
      const first = await createKernel({ policy: { version: "1", posture: "permissive" }, sink });
      first.registerTrusted(tool);
      expect((await first.call("subject", {})).ok).toBe(true);
      const before = (await sink.read(0, 100)).map(eventOf);
      // What a crash after `tool.started` leaves behind.
      const open = before.slice(
        0,
        before.findIndex(({ type }) => type === "tool.completed"),
      );
      storage.sql.exec("DELETE FROM audit WHERE seq >= ?", open.length);

      const second = await createKernel({
        policy: { version: "1", posture: "permissive" },
        sink: sqlSink(storage),
      });
      second.registerTrusted(tool);
      expect((await second.call("subject", {})).ok).toBe(true);
      const all = (await sink.read(0, 100)).map(eventOf);
      expect(verifyChain(all)).toMatchObject({ ok: true });
      expect(all[open.length]).toMatchObject({ type: "tool.lost", callId: open.at(-1)?.callId });
    }));

  it("that cannot be written lets nothing run", () =>
    inObject(async (sink, storage) => {
      let ran = 0;
      const kernel = await createKernel({ policy: { version: "1", posture: "permissive" }, sink });
      kernel.registerTrusted(toolOf(() => ran++));
      storage.sql.exec("DROP TABLE audit");
      expect(await kernel.call("subject", {})).toMatchObject({ ok: false, error: { code: "AUDIT_UNAVAILABLE" } });
      expect(ran).toBe(0);
    }));
});

describe("the daily verification of the log", () => {
  const dayMs = 86_400_000;

  it("is due until one has found the log verified, and again a day later", () =>
    inObject(async (_, storage) => {
      let nowMs = 10 * dayMs;
      const clock = Object.assign(new ObjectClock(), { now: () => nowMs });
      const ends = (earlier: EarlierEvents): void => {
        const due = dueVerification(storage, clock);
        expect(due).toBeTypeOf("function");
        if (due) due(earlier);
      };
      // An object that is ended meanwhile tells nothing.
      expect(dueVerification(storage, clock)).toBeTypeOf("function");
      ends("unverified");
      ends("damaged");
      ends("verified");
      for (const laterMs of [0, 1 - dayMs, dayMs - 1]) {
        nowMs = 10 * dayMs + laterMs;
        expect(dueVerification(storage, clock)).toBe(false);
      }
      for (const laterMs of [dayMs, -dayMs]) {
        nowMs = 10 * dayMs + laterMs;
        expect(dueVerification(storage, clock)).toBeTypeOf("function");
      }
    }));
});
