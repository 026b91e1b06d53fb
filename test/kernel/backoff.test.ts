import { expect, it } from "vitest";
import { backoffOf } from "../support/backoff.ts";
import { FakeClock } from "../support/fake-clock.ts";

const isolates = { cause: "isolates", toolHash: "t", caller: "ada" } as const;
const timeouts = { ...isolates, cause: "timeouts" } as const;

it("a cause counts alone, and a success makes up for all isolates or for one timeout", () => {
  const begun: unknown[] = [];
  const backoff = backoffOf((payload) => begun.push(payload));
  for (const failing of [isolates, timeouts, isolates, timeouts]) backoff.failed("tool", failing);
  expect(backoff.rest([isolates, timeouts])).toBe(undefined);
  backoff.succeeded([isolates, timeouts]);
  for (const failing of [isolates, timeouts, isolates, timeouts]) backoff.failed("tool", failing);
  expect(begun).toMatchObject([{ cause: "timeouts", caller: "ada", failures: 3, restMs: 1_000 }]);
});

it.each([isolates, timeouts])(
  "the count of $cause outlives a kernel, and ends an hour after its rest",
  async (failing) => {
    const clock = new FakeClock();
    const [first, second] = [backoffOf(undefined, clock), backoffOf(undefined, clock)];
    for (let i = 0; i < 4; i++) first.failed("tool", failing);
    for (const [, version, key, row] of first.table.rows())
      expect(second.table.take(key, row, version)).toBe(clock.now());
    expect(second.rest([failing])).toEqual({ failures: 4, restMs: 2_000 });
    await clock.advance(2_000 + 3_600_000);
    second.failed("tool", failing);
    expect(second.rest([failing])).toBe(undefined);
  },
);

it.each([
  [null],
  [{}],
  [["deaths", "t", 3, 0, 1_000]],
  [["toString", "t", 3, 0, 1_000]],
  [["isolates", "t", "3", 0, 1_000]],
  [["isolates", "t", 3, 0]],
  [["timeouts", "t", 3, 0, 1_000, 7]],
])("a foreign row %j is no row", (row) => {
  const { table } = backoffOf();
  table.take("k", row, 1);
  expect(table.size).toBe(0);
});
