import {
  type AuditSink,
  createKernel,
  type EventRecord,
  eventOf,
  blake3Hash,
  hashText,
  lineOf,
  verifyChain,
} from "@keyhole/kernel";
import { verifyAudit } from "@keyhole/kernel/audit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { echo, expectSoundLog, openPolicy, toolOf } from "../support/kernel.ts";
import { failingAt, slow } from "./sink-faults.ts";

/** One store, to which a sink can be opened again and again: as a process that ends and begins. */
export interface SinkSubject {
  open(): AuditSink | Promise<AuditSink>;
  /** Ends the last one that was opened. */
  close(): void | Promise<void>;
  /** Behind the back of every sink: what stands for event `seq` becomes this line, or is taken away. For stores that keep. */
  tamper?(seq: number, line: string | undefined): void | Promise<void>;
}

export interface SinkTraits {
  /** Whether a sink that was opened again finds what the one before has written. */
  readonly keeps: boolean;
}

const chain: EventRecord[] = [];
for (let seq = 0; seq < 50; seq++) {
  const body = `{"payload":"event ${seq}: é € 😀 \u2028","prev":"${chain.at(-1)?.hash ?? blake3Hash.zero}","seq":${seq},"v":1}`;
  chain.push({ seq, body, hash: hashText(body) });
}
/** More than one row of a store holds, with a character where two rows meet. */
const long = "0123456789abcdefg" + "a checkpoint, é 😀\n".repeat(60_000);
const records = (from: number, to: number): EventRecord[] => chain.slice(from, to);

/** What every sink must do. */
export function describeSink(
  name: string,
  { keeps }: SinkTraits,
  make: () => SinkSubject | Promise<SinkSubject>,
): void {
  describe(`the sink ${name}`, () => {
    let subject: SinkSubject;
    let sink: AuditSink;
    beforeEach(async () => {
      subject = await make();
      sink = await subject.open();
    });
    afterEach(() => subject.close());

    it("says whether its events end with the process", () => {
      expect(sink.isVolatile === true).toBe(!keeps);
    });

    it("begins empty", async () => {
      expect(await sink.open()).toEqual({ last: undefined, cutBytes: 0, damage: null });
      expect(await sink.read(0, 10)).toEqual([]);
    });

    it("gives back what it was given, in order, from anywhere, and no more than asked for", async () => {
      await sink.open();
      const all = records(0, 30);
      await sink.append(all.slice(0, 1));
      await sink.append(all.slice(1, 20));
      await sink.append(all.slice(20));
      expect(await sink.read(0, 100)).toEqual(all);
      expect(await sink.read(0, 30)).toEqual(all);
      expect(await sink.read(7, 5)).toEqual(all.slice(7, 12));
      expect(await sink.read(29, 5)).toEqual(all.slice(29));
      expect(await sink.read(30, 5)).toEqual([]);
      expect(await sink.read(3, 0)).toEqual([]);
    });

    it("takes a batch whole while others are read", async () => {
      await sink.open();
      const [first] = await Promise.all([sink.append(records(0, 50)), sink.read(0, 10)]);
      expect(first).toBeUndefined();
      expect(await sink.read(0, 100)).toHaveLength(50);
    });

    it("carries a kernel's log", async () => {
      const kernel = await createKernel({ sink, policy: openPolicy });
      kernel.registerTrusted(echo);
      const calls = Array.from({ length: 3 }, (_, i) => kernel.call("echo", { message: `${i}` }));
      expect((await Promise.all(calls)).every(({ ok }) => ok)).toBe(true);
      const events = (await sink.read(0, 100)).map(eventOf);
      expect(events).toEqual(await kernel.audit.read(0, 100));
      expect(verifyChain(events)).toMatchObject({ ok: true, events: 16 });
      await kernel.close();
    });

    it.each(["before", "after"] as const)(
      "lets nothing run unrecorded when it fails at any operation, %s its work",
      async (moment) => {
        for (let failing = 0; failing < 14; failing++) {
          const from = (await sink.open()).last?.seq ?? -1;
          let runs = 0;
          try {
            const kernel = await createKernel({ sink: failingAt(sink, failing, moment), policy: openPolicy });
            kernel.registerTrusted(toolOf(() => ++runs));
            for (let i = 0; i < 4; i++) await kernel.call("subject", {});
            await kernel.close();
          } catch (error) {
            const { cause = error } = error as Error;
            expect(cause).toMatchObject({ message: "EIO" });
          }
          const written = (await sink.read(from + 1, 1_000)).map(eventOf);
          const started = written.filter(({ type }) => type === "tool.started").length;
          // A write whose answer was lost leaves a start on record that never was; the other way round never.
          if (moment === "before") expect(started, `failing at ${failing}`).toBe(runs);
          else expect([runs, runs + 1], `failing at ${failing}`).toContain(started);
        }
        const kernel = await createKernel({ sink, policy: openPolicy });
        expect(kernel.mode).toBe("NORMAL");
        await expectSoundLog(kernel);
        await kernel.close();
      },
    );

    it("gets one batch at a time, and holds calls back while it writes", async () => {
      const watched = slow(sink);
      const kernel = await createKernel({ sink: watched.sink, policy: openPolicy });
      const unrecorded: number[] = [];
      let runs = 0;
      kernel.registerTrusted(
        toolOf(() => unrecorded.push(++runs - watched.kept("tool.started")), {
          bounds: { concurrency: 64 },
        }),
      );
      const calls = Array.from({ length: 60 }, () => kernel.call("subject", {}));
      expect((await Promise.all(calls)).every(({ ok }) => ok)).toBe(true);
      expect(watched.mostAtOnce()).toBe(1);
      expect(Math.max(...unrecorded)).toBeLessThanOrEqual(0);
      // Those that wait go together: far fewer writes than the 301 events.
      expect(watched.batches()).toBeLessThan(100);
      await expectSoundLog(kernel);
      await kernel.close();
    });

    it("ends with one write every call whose events were in it, and lets none wait for what others record later", async () => {
      const watched = slow(sink);
      const kernel = await createKernel({ sink: watched.sink, policy: openPolicy });
      kernel.registerTrusted(toolOf(() => null, { bounds: { concurrency: 64 } }));
      const [callers, callsEach] = [32, 5];
      const inTurn = async (): Promise<void> => {
        for (let i = 0; i < callsEach; i++) expect(await kernel.call("subject", {})).toMatchObject({ ok: true });
      };
      await Promise.all(Array.from({ length: callers }, inTurn));
      // Each call waits for two writes, its start and its end. Callers who share them need as many as one of them, and not a multiple by their number.
      expect(watched.batches()).toBeLessThan(callers * callsEach);
      await expectSoundLog(kernel);
      await kernel.close();
    });

    if (!keeps) return;

    it.each<[string, (record: EventRecord) => string | undefined]>([
      ["changed", ({ seq, body, hash }) => lineOf({ seq, body: body.replace('"v":1', '"v":2'), hash })],
      [
        "sealed anew",
        ({ seq, body }) =>
          lineOf({ seq, body: body.replace('"v":1', '"v":2'), hash: hashText(body.replace('"v":1', '"v":2')) }),
      ],
      ["taken away", () => undefined],
      ["overwritten", () => "nothing of ours"],
      ["that of another log", ({ seq }) => lineOf(chain[seq]!)],
    ])(
      "in which an event before the last was %s locks the kernel down, on record, and keeps the rest",
      async (_, change) => {
        const first = await createKernel({ sink, policy: openPolicy });
        first.registerTrusted(echo);
        await first.call("echo", { message: "x" });
        const before = await sink.read(0, 100);
        await first.close();
        await subject.close();
        await subject.tamper!(2, change(before[2]!));

        sink = await subject.open();
        const second = await createKernel({ sink, policy: openPolicy });
        expect(second.mode).toBe("LOCKDOWN");
        const after = await sink.read(0, 100);
        for (const record of before.toSpliced(2, 1)) expect(after).toContainEqual(record);
        expect(eventOf(after.at(-1)!)).toMatchObject({ type: "mode.changed", payload: { mode: "LOCKDOWN" } });
        await second.close();
      },
    );

    it("whose first events were cut off locks the kernel down, and goes on behind the last one", async () => {
      const first = await createKernel({ sink, policy: openPolicy });
      first.registerTrusted(echo);
      await first.grants.revoke({ caller: "guest" }, "Under review.");
      await first.call("echo", { message: "x" });
      const before = await sink.read(0, 100);
      await first.close();
      await subject.close();
      for (const seq of [2, 1, 0]) await subject.tamper!(seq, undefined);

      for (let opening = 0; opening < 2; opening++) {
        sink = await subject.open();
        const second = await createKernel({ sink, policy: openPolicy });
        expect(second.mode).toBe("LOCKDOWN");
        const after = await sink.read(0, 100);
        expect(after.slice(0, before.length - 3)).toEqual(before.slice(3));
        expect(after.map(({ seq }) => seq)).toEqual(after.map((_, at) => at + 3));
        const check = await verifyAudit(after.map(lineOf));
        expect(check).toMatchObject({ verdict: "broken", seq: 0 });
        await second.close();
        await subject.close();
      }
    });

    it("opened again goes on where it ended", async () => {
      await sink.open();
      const all = records(0, 9);
      await sink.append(all.slice(0, 4));
      await subject.close();
      sink = await subject.open();
      expect(await sink.open()).toMatchObject({ last: all[3], cutBytes: 0 });
      await sink.append(all.slice(4));
      expect(await sink.read(0, 100)).toEqual(all);
    });

    it.runIf(keeps)("keeps the checkpoint that was written last, and what lies before it", async () => {
      await sink.open();
      expect(await sink.readCheckpoint!()).toBeUndefined();
      await sink.append(records(0, 30));
      await sink.writeCheckpoint!("the first", 9);
      await sink.writeCheckpoint!(long, 19);
      await subject.close();
      sink = await subject.open();
      expect(await sink.open()).toEqual({ last: chain[29], cutBytes: 0, damage: null });
      expect(await sink.readCheckpoint!()).toBe(long);
      expect(await sink.read(20, 100)).toEqual(records(20, 30));
      expect(await sink.read(5, 20)).toEqual(records(5, 25));
      await sink.append(records(30, 33));
      expect(await sink.read(0, 100)).toEqual(records(0, 33));
    });

    it("refuses a batch that does not follow, whole", async () => {
      await sink.open();
      await sink.append(records(0, 3));
      await expect(async () => sink.append(records(2, 4))).rejects.toThrow("expects seq 3, not 2");
      await expect(async () => sink.append(records(4, 5))).rejects.toThrow("expects seq 3, not 4");
      await expect(async () => sink.append([chain[3]!, chain[5]!])).rejects.toThrow("expects seq 4, not 5");
      expect(await sink.read(0, 100)).toHaveLength(3);
    });

    it("carries the log of one kernel after another, and closes what the first left open", async () => {
      for (let round = 0; round < 3; round++) {
        const kernel = await createKernel({ sink, policy: openPolicy });
        kernel.registerTrusted(echo);
        expect(await kernel.call("echo", { message: `${round}` })).toMatchObject({ ok: true });
        await kernel.close();
        await subject.close();
        sink = await subject.open();
      }
      expect(await sink.open()).toMatchObject({ damage: null });
      const events = (await sink.read(0, 100)).map(eventOf);
      expect(verifyChain(events)).toMatchObject({ ok: true, events: 18 });
    });
  });
}
