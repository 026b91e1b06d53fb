import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Rack } from "../../packages/edge/src/isolate/sandbox-place.ts";
import { sized } from "../support/size.ts";
import { opened } from "./fake-sandboxes.ts";

/* A module that spins while it loads holds up all that is in its sandbox. The load of another tool must never be taken for the cause. */

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const codes = ["spin at load 1", "spin at load 2", "load late", "one", "other", "answer late", "spin"] as const;

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ code: fc.constantFrom(...codes), kernel: fc.nat(1) }) },
  { weight: 4, arbitrary: fc.record({ passMs: fc.constantFrom(0, 1, 100, 251, 600, 2_000, 61_000) }) },
  { weight: 1, arbitrary: fc.record({ dies: fc.nat(2) }) },
);

async function expectSure(
  count: number,
  steps: readonly (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[],
) {
  const first = opened(count);
  const kernels = [first, opened(count, first.sandboxes, first.rack)] as const;
  const loads: { readonly id: string; readonly code: string; readonly kernel: (typeof kernels)[number] }[] = [];
  let blamed = 0;
  for (const [at, each] of steps.entries()) {
    if ("dies" in each) first.sandboxes[each.dies]?.die();
    if ("code" in each) {
      const kernel = kernels[each.kernel]!;
      const id = `${at}`;
      loads.push({ id, code: each.code, kernel });
      void kernel.moving(id, each.code).catch(() => {});
    }
    await vi.advanceTimersByTimeAsync("passMs" in each ? each.passMs : 0);
    for (const { id, code, kernel } of loads) {
      if (!kernel.loader.holdsUp!(id)) continue;
      blamed++;
      expect([code, first.sandboxes[kernel.loader.placeOf!(id)]!.spins]).toEqual([code, code]);
    }
  }
  for (const sandbox of first.sandboxes) sandbox.die();
  vi.clearAllTimers();
  return blamed;
}

describe("the load that holds up a sandbox", () => {
  it("is the one that spins, in every interleaving", async () => {
    let blamed = 0;
    const property = fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.array(step, { maxLength: 25 }),
      async (count, steps) => {
        blamed += await expectSure(count, steps);
      },
    );
    await fc.assert(property, { numRuns: sized(200, 5_000), seed: 1 });
    expect(blamed).toBeGreaterThan(0);
  });

  it("is found beside others: it goes on in a sandbox of its own", async () => {
    const { loader, moving } = opened(3);
    await moving("one");
    const ids = ["spin at load", "other", "another"];
    for (const id of ids) void moving(id).catch(() => {});
    await vi.advanceTimersByTimeAsync(2_000);
    expect(ids.map((id) => loader.holdsUp!(id))).toEqual([true, false, false]);
  });

  it("keeps no other tool waiting that left a sandbox with it, also where none is free", async () => {
    const { moving, ends } = opened(3, undefined, new Rack(false));
    const before = ends(moving("spin at load"));
    const others = ["load late 1", "load late 2", "load late 3"].map((id) => ends(moving(id)));
    await vi.advanceTimersByTimeAsync(2_500);
    expect([before, ...others].map(({ end }) => end())).toEqual(["open", "answered", "answered", "answered"]);
  });

  it("is nobody's where another tool was there less than a minute before", async () => {
    const { loader, load, moving } = opened(1);
    await load("one");
    await loader.close("one");
    void moving("spin at load").catch(() => {});
    await vi.advanceTimersByTimeAsync(2_000);
    expect(loader.holdsUp!("spin at load")).toBe(false);
  });

  it("is nobody's where another process can have loaded something there before", async () => {
    for (const [ageMs, expected] of [
      [0, false],
      [61_000, true],
    ] as const) {
      const { loader, moving } = opened(1, undefined, new Rack(false));
      await vi.advanceTimersByTimeAsync(ageMs);
      void moving("spin at load").catch(() => {});
      await vi.advanceTimersByTimeAsync(2_000);
      expect(loader.holdsUp!("spin at load")).toBe(expected);
    }
  });
});
