import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  FairSemaphore,
  type Queued,
  type Settled,
  type SlotOptions,
} from "../../packages/kernel/src/bounds/fair-semaphore.ts";
import { settle } from "../support/fake-clock.ts";
import { sized } from "../support/size.ts";

/** Requests by name, in the order in which they got a slot, and what refused the others. */
function lineOf(slots: FairSemaphore) {
  const order: string[] = [];
  const refusals: string[] = [];
  const held: (() => void)[] = [];
  const note = (name: string, outcome: Settled): void => {
    if (outcome.kind === "refused") refusals.push(`${name} ${outcome.reason}`);
    else {
      order.push(name);
      held.push(outcome.release);
    }
  };
  const take = (name: string, path: readonly string[], options?: SlotOptions): Queued | undefined => {
    const slot = slots.take(path, options);
    if (slot.kind === "queued") {
      void slot.turn.then((outcome) => note(name, outcome));
      return slot;
    }
    note(name, slot);
    return undefined;
  };
  const serveAll = async (): Promise<void> => {
    for (await settle(); held.length > 0; await settle()) held.shift()!();
  };
  return { order, refusals, held, take, serveAll };
}

describe("a fair semaphore", () => {
  it("grants as many slots as it has, and one more for each release", async () => {
    const slots = new FairSemaphore(2);
    const { order, held, take } = lineOf(slots);
    for (const name of ["1", "2", "3", "4"]) take(name, ["a"]);
    expect(order).toEqual(["1", "2"]);
    const [first] = held;
    first!();
    first!(); // A second release of the same slot does nothing.
    await settle();
    expect(order).toEqual(["1", "2", "3"]);
    expect([slots.held, slots.free, slots.waiting]).toEqual([2, 0, 1]);
  });

  it("serves one key's requests in the order of arrival, and the keys of each level in turn", async () => {
    const slots = new FairSemaphore(1);
    const { order, take, serveAll } = lineOf(slots);
    for (const name of ["a/x", "a/x", "a/x", "a/y", "b/x", "b/x", "c/z"]) take(name, name.split("/"));
    await serveAll();
    expect(order).toEqual(["a/x", "a/x", "b/x", "c/z", "a/y", "b/x", "a/x"]);
  });

  it("delays a request of another key by one slot in a burst", async () => {
    const { order, take, serveAll } = lineOf(new FairSemaphore(1));
    for (let i = 0; i < 5; i++) take("burst", ["burst"]);
    const other = take("other", ["other"]);
    expect(other?.position).toBe(2);
    await serveAll();
    expect(order.indexOf("other")).toBe(2);
  });

  it("asks whether a request is wanted when its turn comes, and an unwanted one costs no turn", async () => {
    const { order, refusals, take, serveAll } = lineOf(new FairSemaphore(1));
    let asked = 0;
    const isWanted = () => (asked++, false);
    take("first", ["a"]);
    for (let i = 0; i < 100; i++) take("unwanted", ["a"], { isWanted });
    take("b", ["b"]);
    take("last", ["a"]);
    await settle();
    expect(asked).toBe(0);
    await serveAll();
    expect([order, asked]).toEqual([["first", "last", "b"], 100]);
    expect(new Set(refusals)).toEqual(new Set(["unwanted unwanted"]));
    take("late", ["a"], { isWanted });
    expect(refusals.at(-1)).toBe("late unwanted");
  });

  it("lets a request leave while it waits, by call or by signal, once", async () => {
    const slots = new FairSemaphore(1);
    const { order, refusals, take, serveAll } = lineOf(slots);
    const controller = new AbortController();
    take("first", ["a"]);
    const leaving = take("leaves", ["a"]);
    take("aborted", ["b"], { signals: [new AbortController().signal, controller.signal] });
    take("stays", ["a"]);
    leaving!.leave();
    leaving!.leave();
    controller.abort();
    await settle();
    expect([refusals, slots.waiting, leaving!.position]).toEqual([["leaves left", "aborted left"], 1, 0]);
    take("late", ["b"], { signals: [controller.signal] });
    expect(refusals.at(-1)).toBe("late left");
    await serveAll();
    expect(order).toEqual(["first", "stays"]);
    leaving!.leave();
    expect([slots.held, slots.waiting]).toEqual([0, 0]);
  });

  it("loses no slot to a signal that throws", async () => {
    const slots = new FairSemaphore(1);
    const { order, take, serveAll } = lineOf(slots);
    const broken = (): never => {
      throw new Error("broken");
    };
    const signalOf = (members: object): AbortSignal => Object.assign(new AbortController().signal, members);
    take("first", ["a"]);
    expect(() => take("never", ["a"], { signals: [signalOf({ addEventListener: broken })] })).toThrow("broken");
    take("second", ["a"], { signals: [signalOf({ removeEventListener: broken })] });
    take("third", ["a"]);
    await serveAll();
    expect([order, slots.held, slots.waiting]).toEqual([["first", "second", "third"], 0, 0]);
  });

  it("lets a request with a lower limit wait without delaying the others", async () => {
    const slots = new FairSemaphore(2);
    const { order, held, take } = lineOf(slots);
    take("1", ["a"]);
    take("low", ["a"], { limit: 1 });
    expect(slots.free).toBe(1);
    take("2", ["a"]);
    take("3", ["b"]);
    held[0]!();
    await settle();
    expect(order).toEqual(["1", "2", "3"]);
    held[1]!();
    await settle();
    expect(order).toEqual(["1", "2", "3"]);
    held[2]!();
    await settle();
    expect(order).toEqual(["1", "2", "3", "low"]);
  });
});

describe("a full queue", () => {
  it("refuses a request of the key that has the most", () => {
    const { refusals, take } = lineOf(new FairSemaphore(1, { maxWaiting: 3 }));
    for (const name of ["held", "1", "2", "3", "4"]) take(name, ["a"]);
    expect(refusals).toEqual(["4 full"]);
  });

  it("drops the last request of the key that has the most for one of another key", async () => {
    const { order, refusals, take, serveAll } = lineOf(new FairSemaphore(1, { maxWaiting: 4 }));
    take("held", ["a", "x"]);
    for (const name of ["a/x", "a/y", "a/y", "a/x"]) take(name, name.split("/"));
    for (const name of ["b/x", "b/x", "b/x"]) take(name, name.split("/"));
    await settle();
    expect(refusals).toEqual(["b/x full", "a/y full", "a/x full"]);
    await serveAll();
    expect(order).toEqual(["held", "a/x", "b/x", "a/y", "b/x"]);
  });
});

const keys = ["a", "b", "c"];
const key = fc.constantFrom(...keys);
const path = fc.tuple(key, key);
type Deed =
  | { readonly deed: "take"; readonly path: readonly string[]; readonly limit?: number }
  | { readonly deed: "release" | "release again" | "leave" | "abort"; readonly at: number };
const at = fc.nat({ max: 30 });
const deeds: fc.Arbitrary<Deed[]> = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ deed: fc.constant("take" as const), path }) },
    { weight: 3, arbitrary: fc.record({ deed: fc.constant("release" as const), at }) },
    fc.record({ deed: fc.constantFrom("release again" as const, "leave" as const, "abort" as const), at }),
  ),
  { maxLength: 120, size: "max" },
);

interface Request {
  readonly path: readonly string[];
  readonly slot: Settled | Queued;
  readonly controller: AbortController;
  readonly outcomes: Settled[];
  /** How many requests of its path stood before it, and how many slots were granted, when it came. */
  readonly before: number;
  readonly grants: number;
}

/** Plays deeds; `look` is called after each. */
async function play(slots: FairSemaphore, all: readonly Deed[], look: (requests: readonly Request[]) => void) {
  const requests: Request[] = [];
  /** In the order of their grants. */
  const served: Request[] = [];
  const [held, released]: (() => void)[][] = [[], []];
  const settleWith = (request: Request, outcome: Settled): void => {
    request.outcomes.push(outcome);
    if (outcome.kind !== "held") return;
    served.push(request);
    held!.push(outcome.release);
  };
  for (const each of all) {
    if (each.deed === "take") {
      const controller = new AbortController();
      const waits = (other: Request): boolean => other.outcomes.length === 0 && other.path.join() === each.path.join();
      const before = requests.filter(waits).length;
      const slot = slots.take(each.path, { signals: [controller.signal] });
      const request = { path: each.path, slot, controller, outcomes: [], before, grants: served.length };
      requests.push(request);
      if (slot.kind === "queued") void slot.turn.then((outcome) => settleWith(request, outcome));
      else settleWith(request, slot);
    } else if (each.deed === "release") {
      const [release] = held!.splice(each.at % Math.max(1, held!.length), 1);
      release?.();
      if (release) released!.push(release);
    } else if (each.deed === "release again") released![each.at % Math.max(1, released!.length)]?.();
    else {
      const request = requests[each.at % Math.max(1, requests.length)];
      if (each.deed === "abort") request?.controller.abort();
      else if (request?.slot.kind === "queued") request.slot.leave();
    }
    await settle();
    look(requests);
  }
  while (held!.length > 0) {
    held!.shift()!();
    await settle();
  }
  return { requests, served };
}

const runs = { numRuns: sized(200, 5_000) };
const size = fc.integer({ min: 1, max: 6 });

describe("whatever is taken, released and left in any order", () => {
  it("never more slots are held than there are, none is free for a request that waits, and none is lost", async () => {
    const waiting = fc.constantFrom(3, 10, Infinity);
    await fc.assert(
      fc.asyncProperty(size, waiting, fc.boolean(), deeds, async (count, maxWaiting, hasShares, all) => {
        const slots = new FairSemaphore(count, { maxWaiting, hasShares });
        const { requests } = await play(slots, all, (soFar) => {
          expect(slots.held).toBeLessThanOrEqual(count);
          expect(slots.waiting).toBeLessThanOrEqual(maxWaiting);
          if (!hasShares && slots.waiting > 0) expect(slots.held).toBe(count);
          for (const each of hasShares ? keys : []) {
            const waits = soFar.some(({ path: [first], outcomes }) => first === each && outcomes.length === 0);
            expect(slots.heldBy(each)).toBeLessThanOrEqual(Math.ceil(count / 2));
            expect(slots.heldBy(each)).toBeGreaterThanOrEqual(waits ? slots.free : 0);
          }
          expect(soFar.filter(({ outcomes }) => outcomes.length === 0)).toHaveLength(slots.waiting);
        });
        expect(requests.every(({ outcomes }) => outcomes.length === 1)).toBe(true);
        const reasons = requests.flatMap(({ outcomes: [end] }) => (end?.kind === "refused" ? [end.reason] : []));
        if (maxWaiting === Infinity) expect(reasons).not.toContain("full");
        expect([slots.held, slots.free, slots.waiting]).toEqual([0, count, 0]);
      }),
      runs,
    );
  });

  it("a request is served after at most as many grants as keys compete on each level, for each request before it", async () => {
    await fc.assert(
      fc.asyncProperty(size, deeds, async (count, all) => {
        const { requests, served } = await play(new FairSemaphore(count), all, () => {});
        for (const request of requests) {
          const grant = served.indexOf(request);
          if (grant < 0) continue;
          expect(grant - request.grants).toBeLessThan((request.before + 1) * keys.length ** request.path.length);
        }
        for (const each of new Set(requests.map((request) => request.path.join()))) {
          const ofPath = (request: Request): boolean => request.path.join() === each;
          const inOrder = requests.filter((request) => ofPath(request) && served.includes(request));
          expect(served.filter(ofPath)).toEqual(inOrder);
        }
      }),
      runs,
    );
  });

  it("a position says how many grants away a slot is, as long as no request comes or leaves", async () => {
    await fc.assert(
      fc.asyncProperty(size, deeds, async (count, all) => {
        let positions: readonly (readonly [Request, number])[] = [];
        const { served } = await play(new FairSemaphore(count), all, (requests) => {
          positions = requests.flatMap((request) =>
            request.slot.kind === "queued" && request.outcomes.length === 0
              ? [[request, request.slot.position] as const]
              : [],
          );
        });
        const waited = positions.toSorted(([, a], [, b]) => a - b);
        expect(waited.map(([, position]) => position)).toEqual(waited.map((_, index) => index + 1));
        expect(served.slice(served.length - waited.length)).toEqual(waited.map(([request]) => request));
      }),
      runs,
    );
  });
});
