import { runInDurableObject } from "cloudflare:test";
import { sqlSink } from "@keyhole/edge";
import { type AuditSink, createFullKernel, type EventRecord, eventOf, hashText, verifyChain } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
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

  it("goes on with the chain after a restart, and ends what the crash left open", () =>
    inObject(async (sink, storage) => {
      const tool = toolOf(() => 1);
      const first = await createFullKernel({ policy: { version: "1", posture: "permissive" }, sink });
      first.registerTrusted(tool);
      expect((await first.call("subject", {})).ok).toBe(true);
      const before = (await sink.read(0, 100)).map(eventOf);
      // What a crash after `tool.started` leaves behind.
      const open = before.slice(
        0,
        before.findIndex(({ type }) => type === "tool.completed"),
      );
      storage.sql.exec("DELETE FROM audit WHERE seq >= ?", open.length);

      const second = await createFullKernel({
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
      const kernel = await createFullKernel({ policy: { version: "1", posture: "permissive" }, sink });
      kernel.registerTrusted(toolOf(() => ran++));
      storage.sql.exec("DROP TABLE audit");
      expect(await kernel.call("subject", {})).toMatchObject({ ok: false, error: { code: "AUDIT_UNAVAILABLE" } });
      expect(ran).toBe(0);
    }));
});
