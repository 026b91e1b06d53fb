import type { Broker, BrokerReply, BrokerSession } from "@keyhole/kernel";
import { dbBroker, type SqlDatabase } from "@keyhole/worker-host/brokers/db";
import { commandBroker, type SpawnLimits } from "@keyhole/worker-host/brokers/spawn";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Places } from "../../packages/worker-host/src/brokers/places.ts";
import { settle } from "../support/fake-clock.ts";
import { sized } from "../support/size.ts";
import { openSession } from "./session.ts";

const done = { ok: true, value: null } as const;
const never = new AbortController().signal;

/** What runs, in order of its start; each ends when it is told to. */
function running() {
  const order: string[] = [];
  const ends: ((reply: BrokerReply) => void)[] = [];
  const start = (caller: string): Promise<BrokerReply> => {
    order.push(caller);
    return new Promise((resolve) => ends.push(resolve));
  };
  const endAll = async (): Promise<void> => {
    for (await settle(); ends.length > 0; await settle()) ends.shift()!(done);
  };
  return { order, ends, start, endAll };
}

/** Commands that run until they are told to end. */
function commands(limits: SpawnLimits = {}) {
  const { start, ...rest } = running();
  const run = (_request: unknown, _limits: unknown, { caller }: BrokerSession): Promise<BrokerReply> => start(caller);
  const broker = commandBroker(
    new Map([["sleep", { counts: false, run, fault: () => Promise.resolve(undefined) }]]),
    limits,
  );
  const request = { kind: "process.spawn", operation: "run", arguments: { command: "sleep", args: [] } } as const;
  const ask = (caller: string, outermostId = "call", stdin = 0, signal = never): Promise<BrokerReply> =>
    broker.serve(
      { ...request, body: new Uint8Array(stdin) },
      { ...openSession({ caller, outermostId, signal }), refusal: () => undefined },
    );
  return { ask, ...rest };
}

describe("commands of several callers", () => {
  it("leave a place to another caller, however many calls one caller makes", async () => {
    const { ask, order, endAll } = commands();
    const mallory = Array.from({ length: 64 }, (_, call) => ask("mallory", `call ${call}`));
    const ada = ask("ada");
    expect(order).toEqual(["mallory", "mallory", "mallory", "mallory", "ada"]);
    await endAll();
    for (const reply of await Promise.all([...mallory, ada])) expect(reply).toEqual(done);
  });

  it("take turns, and so do the calls of one caller", async () => {
    const { ask, order, endAll } = commands({ processes: 1 });
    const all = ["a/1", "a/1", "a/1", "a/2", "b/1"].map((each) => ask(each, each.slice(2)));
    await endAll();
    await Promise.all(all);
    expect(order).toEqual(["a/1", "a/1", "a/2", "b/1", "a/1"]);
    const calls = running();
    const places = new Places({ size: 1, subject: "commands" });
    const serve = (outermostId: string): Promise<BrokerReply> =>
      places.serve({ caller: "a", outermostId, signal: never }, () => calls.start(outermostId));
    const replies = ["1", "1", "1", "2"].map(serve);
    await calls.endAll();
    await Promise.all(replies);
    expect(calls.order).toEqual(["1", "1", "2", "1"]);
  });

  it("beyond a hundred that wait are refused to the caller with the most", async () => {
    const { ask, endAll } = commands({ processes: 1 });
    const mallory = Array.from({ length: 101 }, () => ask("mallory"));
    const tooMany = { ok: false, error: { code: "UNAVAILABLE", message: "Too many commands wait already." } };
    expect(await ask("mallory")).toMatchObject(tooMany);
    const ada = ask("ada");
    expect(await mallory.at(-1)).toMatchObject(tooMany);
    await endAll();
    expect([await ada, await mallory[0], await mallory.at(-2)]).toEqual([done, done, done]);
  });

  it("hold no more input of one caller than one command may have while they wait", async () => {
    const { ask, endAll } = commands({ processes: 1, stdinBytes: 100 });
    const [, first, second, third] = [ask("a", "1", 100), ask("a", "2", 60), ask("a", "3", 41), ask("a", "4", 40)];
    expect(await second).toMatchObject({ ok: false, error: { code: "UNAVAILABLE" } });
    const other = ask("b", "1", 100);
    await endAll();
    expect([await first, await third, await other]).toEqual([done, done, done]);
    const again = [ask("a", "1", 100), ask("a", "2", 100)];
    await endAll();
    expect(await Promise.all(again)).toEqual([done, done]);
  });
});

describe("statements of several callers", () => {
  const statement = { kind: "db.read", operation: "query", arguments: { database: "main", sql: "SELECT 1" } } as const;
  const rows = { ok: true, value: { columns: [], rows: [] } } as const;

  function opened(members: Partial<SqlDatabase>) {
    const ends: (() => void)[] = [];
    const query: SqlDatabase["query"] = () => new Promise((resolve) => ends.push(() => resolve(rows)));
    const broker: Broker = dbBroker({ main: { ...members, query, run: () => Promise.reject(new Error("unused")) } });
    const order: string[] = [];
    const ask = (caller: string): Promise<unknown> =>
      broker.serve(statement, openSession({ caller })).then(() => order.push(caller));
    const endAll = async (): Promise<void> => {
      for (await settle(); ends.length > 0; await settle()) ends.shift()!();
    };
    return { ask, order, ends, endAll };
  }

  it("take turns at a database that serves one at a time", async () => {
    const { ask, order, ends, endAll } = opened({ concurrency: 1 });
    const all = [...Array.from({ length: 32 }, () => ask("mallory")), ask("ada")];
    await settle();
    expect(ends).toHaveLength(1);
    await endAll();
    await Promise.all(all);
    expect([order.length, order.indexOf("ada")]).toEqual([33, 2]);
  });

  it("do not wait at a database without a bound", async () => {
    const { ask, ends, endAll } = opened({});
    const all = Array.from({ length: 8 }, () => ask("ada"));
    await settle();
    expect(ends).toHaveLength(8);
    await endAll();
    await Promise.all(all);
  });
});

/** Names as a foreign caller can choose them. */
const caller = fc.constantFrom("a", "b", "", "__proto__", "c".repeat(256));
const deed = fc.oneof(
  fc.record({ deed: fc.constant("ask" as const), caller, call: fc.constantFrom("1", "2"), bytes: fc.nat(60) }),
  fc.record({ deed: fc.constantFrom("end" as const, "fail" as const, "leave" as const), at: fc.nat(40) }),
);

it("callers keep their shares, and each place comes back once, in any order of requests, ends and leaves", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 5 }), fc.array(deed, { maxLength: 80 }), async (size, deeds) => {
      const places = new Places({ size, subject: "requests", waitingBytes: 100 });
      const held = new Map<string, number>();
      const count = (): number => [...held.values()].reduce((sum, each) => sum + each, 0);
      const work: PromiseWithResolvers<BrokerReply>[] = [];
      const asked: { readonly leave: () => void; readonly name: string; ends: number; starts: number }[] = [];
      const ask = (name: string, outermostId: string, bytes: number): void => {
        const controller = new AbortController();
        const request = { leave: () => controller.abort(), name, ends: 0, starts: 0 };
        asked.push(request);
        const serve = async (): Promise<BrokerReply> => {
          const own = held.get(name) ?? 0;
          expect(own).toBeLessThan(size - count());
          request.starts++;
          held.set(name, own + 1);
          const end = Promise.withResolvers<BrokerReply>();
          work.push(end);
          try {
            return await end.promise;
          } finally {
            held.set(name, (held.get(name) ?? 0) - 1);
          }
        };
        const end = (): void => void request.ends++;
        places.serve({ caller: name, outermostId, signal: controller.signal }, serve, bytes).then(end, end);
      };
      for (const each of deeds) {
        if (each.deed === "ask") ask(each.caller, each.call, each.bytes);
        else if (each.deed === "leave") asked[each.at % Math.max(1, asked.length)]?.leave();
        else {
          const [ended] = work.splice(each.at % Math.max(1, work.length), 1);
          if (each.deed === "end") ended?.resolve(done);
          else ended?.reject(new Error("broken"));
        }
        await settle();
        const free = size - count();
        for (const { name, ends, starts } of asked)
          if (ends === 0 && starts === 0) expect(held.get(name) ?? 0).toBeGreaterThanOrEqual(free);
      }
      while (work.length > 0) {
        work.shift()!.resolve(done);
        await settle();
      }
      expect(asked.every(({ ends, starts }) => ends === 1 && starts <= 1)).toBe(true);
      for (let i = 0; i < size; i++) ask(`late ${i}`, "call", 0);
      expect(work).toHaveLength(size);
      ask("one too many", "call", 0);
      expect(work).toHaveLength(size);
    }),
    { numRuns: sized(100, 3_000) },
  );
});
