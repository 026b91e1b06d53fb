import { createKernel, type IsolateOutcome, type Kernel } from "@keyhole/kernel";
import { runCall } from "@keyhole/kernel/guest";
import fc from "fast-check";
import { expect, it } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { toolOf } from "../support/kernel.ts";
import { hostOpening, packed } from "../support/module-host.ts";
import { calling, openCalls } from "../support/nested.ts";
import { sized } from "../support/size.ts";

/** A tree of work: the fuel that a call needs for itself, and the calls that it makes, those of one group at once. */
interface Work {
  readonly need: number;
  readonly groups: readonly (readonly Work[])[];
}

/** Makes the calls of its work, and tells their codes. */
const worker = calling(
  "work",
  async ({ groups }: Work, { tools }) => {
    for (const group of groups) await Promise.all(group.map((each) => tools.call("work", each).catch(() => {})));
    return null;
  },
  { bounds: { concurrency: 64 } },
);

/** Counts the need of each call as its fuel, at the end of its run. */
async function openCounting(): Promise<{ kernel: Kernel; given: (number | undefined)[] }> {
  const given: (number | undefined)[] = [];
  const host = hostOpening(
    "counting",
    async () => ({
      alive: true,
      terminate: () => {},
      async call(call, port): Promise<IsolateOutcome> {
        const { fuel = Infinity } = call;
        given.push(call.fuel);
        const { need } = JSON.parse(call.inputText ?? "{}") as Work;
        const outcome = await runCall(worker, call, port);
        port.used?.({ fuelUsed: Math.min(need, fuel) });
        return need > fuel ? { kind: "out-of-fuel", limit: fuel } : outcome;
      },
    }),
    { enforces: ["fuel"] },
  );
  const kernel = await createKernel({ host, policy: openCalls, clock: new FakeClock() });
  expect(kernel.register(packed(worker))).toMatchObject({ ok: true });
  return { kernel, given };
}

const workOf = (depth: number): fc.Arbitrary<Work> =>
  fc.record({
    need: fc.nat({ max: 60 }),
    groups: depth === 0 ? fc.constant([]) : fc.array(fc.array(workOf(depth - 1), { maxLength: 3 }), { maxLength: 2 }),
  });

const sum = (works: readonly Work[]): number =>
  works.reduce((all, { need, groups }) => all + need + sum(groups.flat()), 0);
const depthOf = ({ groups }: Work): number => Math.max(0, ...groups.flat().map((each) => 1 + depthOf(each)));

it("the calls within a call use together at most the fuel that its caller gave it, in turn or at once", async () => {
  const { kernel } = await openCounting();
  await fc.assert(
    fc.asyncProperty(workOf(2), fc.integer({ min: 1, max: 200 }), async (work, fuel) => {
      const used = new Map<string, number>();
      const result = await kernel.call("work", work, {
        bounds: { fuel },
        onEvent({ callId, payload }) {
          if ("fuelUsed" in payload) used.set(String(callId), payload.fuelUsed);
        },
      });
      const own = result.meta?.fuelUsed ?? 0;
      const all = [...used.values()].reduce((before, each) => before + each, 0);
      expect(own).toBeLessThanOrEqual(fuel);
      // One level uses its own rest once: no more than that per level.
      expect(all).toBeLessThanOrEqual(fuel * (1 + depthOf(work)));
      if (depthOf(work) === 1) expect(all - own).toBeLessThanOrEqual(fuel);
      // Nothing is refused that fits.
      if (sum([work]) <= fuel) expect([result.ok, all]).toEqual([true, sum([work])]);
    }),
    { numRuns: sized(60, 1_000) },
  );
  await kernel.close();
});

it("without a bound of the caller each call has its own", async () => {
  const { kernel, given } = await openCounting();
  const leaf = { need: 50, groups: [] };
  expect(await kernel.call("work", { need: 1, groups: [[leaf, leaf]] })).toMatchObject({ ok: true });
  expect(given).toEqual([undefined, undefined, undefined]);
  await kernel.close();
});

it("the runs of one call share its fuel", async () => {
  const given: (number | undefined)[] = [];
  const clock = new FakeClock();
  const host = hostOpening(
    "crashing",
    async () => {
      let alive = true;
      return {
        get alive() {
          return alive;
        },
        terminate: () => (alive = false),
        async call({ fuel }, port): Promise<IsolateOutcome> {
          given.push(fuel);
          port.used?.({ fuelUsed: 40 });
          alive = false;
          return { kind: "lost", reason: "gone" };
        },
      };
    },
    { enforces: ["fuel"] },
  );
  const kernel = await createKernel({ host, policy: openCalls, clock });
  kernel.register(packed(toolOf(() => 1, { name: "subject", determinism: "external", idempotent: true })));
  const call = kernel.call("subject", {}, { bounds: { fuel: 100 } });
  await clock.advance(10_000);
  expect(await call).toMatchObject({ ok: false, meta: { attempts: 3 } });
  expect(given).toEqual([100, 60, 20]);
  await kernel.close();
});

/** Runs that end in the way that their input names, and none says what it used. */
async function openUncounted(unmetered?: string) {
  const clock = new FakeClock();
  const given: unknown[] = [];
  const spin = toolOf(() => 1, { name: "spin", determinism: "external", bounds: { timeoutMs: 1_000 } });
  const around = calling("around", async ({ ends }: { ends: string[] }, { tools }) => {
    const codes: unknown[] = [];
    for (const end of ends) {
      const answer = await tools.call("spin", { end }).catch(({ code }: { code: string }) => ({ error: { code } }));
      codes.push("error" in answer ? answer.error.code : "ok");
    }
    return codes;
  });
  const host = hostOpening(
    "silent",
    async ({ manifest }) => {
      const stopped = Promise.withResolvers<IsolateOutcome>();
      let alive = true;
      return {
        get alive() {
          return alive;
        },
        terminate: (reason) => {
          alive = false;
          stopped.resolve({ kind: "lost", reason });
        },
        async call(call, port): Promise<IsolateOutcome> {
          if (manifest.name === "around") return runCall(around, call, port);
          given.push(call.fuel);
          const { end } = JSON.parse(call.inputText) as { end: string };
          if (end === "returned") return { kind: "returned", output: { form: "json", text: "1" } };
          if (end === "crash") alive = false;
          return end === "crash" ? { kind: "lost", reason: "crash" } : stopped.promise;
        },
      };
    },
    { enforces: ({ name }) => (name === unmetered ? [] : ["fuel"]) },
  );
  const kernel = await createKernel({ host, policy: openCalls, clock });
  for (const tool of [around, spin]) expect(kernel.register(packed(tool))).toMatchObject({ ok: true });
  return { kernel, clock, given };
}

it.each([
  ["its deadline", "spin", "TIMEOUT"],
  ["a crash", "crash", "ISOLATE_LOST"],
  ["an output", "returned", "ok"],
])("a call that ends by %s without a count costs its whole bound", async (_, end, code) => {
  const { kernel, clock, given } = await openUncounted();
  const call = kernel.call("around", { ends: [end, end] }, { bounds: { fuel: 50 } });
  await clock.advance(5_000);
  expect(await call).toMatchObject({ data: [code, "BOUNDS_EXCEEDED"], meta: { fuelUsed: 50 } });
  expect(given).toEqual([50]);
  const alone = kernel.call("spin", { end }, { bounds: { fuel: 40 } });
  await clock.advance(5_000);
  expect(await alone).toMatchObject({ meta: { fuelUsed: 40 } });
  await kernel.close();
});

it("a call that its caller cancels costs its whole bound where it ran, and nothing where it did not", async () => {
  const { kernel, clock } = await openUncounted();
  const stop = new AbortController();
  const options = { bounds: { fuel: 40 }, signal: stop.signal };
  const call = kernel.call("spin", { end: "spin" }, options);
  await clock.advance(10);
  stop.abort();
  await clock.advance(5_000);
  expect(await call).toMatchObject({ error: { code: "CANCELLED" }, meta: { fuelUsed: 40 } });
  expect((await kernel.call("spin", { end: "spin" }, options)).meta.fuelUsed).toBeUndefined();
  await kernel.close();
});

it("a host that counts no fuel gets no bound of it, and charges none", async () => {
  const { kernel, given } = await openUncounted("spin");
  const ends = ["returned", "returned"];
  expect(await kernel.call("around", { ends }, { bounds: { fuel: 50 } })).toMatchObject({ data: ["ok", "ok"] });
  expect(given).toEqual([undefined, undefined]);
  await kernel.close();
});

it("a run that was lost without a count leaves no fuel for another", async () => {
  const { kernel, clock, given } = await openUncounted();
  kernel.register(packed(toolOf(() => 1, { name: "again", determinism: "external", idempotent: true })));
  const call = kernel.call("again", { end: "crash" }, { bounds: { fuel: 40 } });
  await clock.advance(10_000);
  expect(await call).toMatchObject({ error: { code: "ISOLATE_LOST" }, meta: { attempts: 1, fuelUsed: 40 } });
  expect(given).toEqual([40]);
  await kernel.close();
});
