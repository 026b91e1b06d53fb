import type { AuditEvent } from "@keyhole/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { axisOf, foldMs } from "../../packages/playground/src/timeline/axis.ts";
import { spansOf } from "../../packages/playground/src/timeline/spans.ts";
import { clamped, leastWindow } from "../../packages/playground/src/timeline/useWindow.ts";
import { foldsWithin, viewOf } from "../../packages/playground/src/timeline/view.ts";
import { decided, log } from "./timeline-parts.ts";

describe("the folds that a row draws", () => {
  const inSight = { from: 0, to: 1 };
  const pausing = (count: number): readonly AuditEvent[] =>
    log(Array.from({ length: count }, (_, at) => decided(at * 2 * foldMs, "a", "allow")));

  it.for([1, 3, 500, 4_000])("are bounded for a log with %i pauses", (pauses) => {
    const axis = axisOf(spansOf(pausing(pauses + 1)), true);
    expect(axis.folds.length).toBe(pauses);
    const stretches = foldsWithin(axis, inSight);
    expect(stretches.length).toBeLessThanOrEqual(Math.min(pauses, 201));
    expect(viewOf(axis, inSight).folds.match(/M/g)?.length).toBe(stretches.length);
    for (const [at, { from, to }] of stretches.entries()) {
      expect(from).toBeGreaterThanOrEqual(stretches[at - 1]?.to ?? 0);
      expect(to).toBeGreaterThan(from);
    }
    expect(stretches.at(-1)?.to).toBeLessThanOrEqual(100);
  });

  it("are those in the time that is shown", () => {
    const axis = axisOf(spansOf(pausing(3)), true);
    const [first] = axis.folds;
    const place = axis.at(first!.end);
    expect(foldsWithin(axis, { from: 0, to: place })).toEqual([{ from: 0, to: 100 }]);
  });
});

describe("the shown time", () => {
  it("never leaves the axis and never becomes nothing", () => {
    const place = fc.double({ min: -2, max: 3, noNaN: true });
    fc.assert(
      fc.property(place, place, (from, to) => {
        const window = clamped(from, to);
        expect(window.from).toBeGreaterThanOrEqual(0);
        expect(window.to).toBeLessThanOrEqual(1 + 1e-9);
        expect(window.to - window.from).toBeGreaterThanOrEqual(leastWindow * 0.99);
      }),
    );
  });
});
