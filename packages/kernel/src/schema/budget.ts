import type { Limits } from "./limits.ts";
import { EXHAUSTED } from "./refusal.ts";

// What the check that runs now may still spend. There is one at a time: a check that begins inside another one, through
// an accessor in its value, puts back what it found.
let steps = 0;
let depth = 0;

export function spend(count: number): void {
  if ((steps -= count) < 0) throw EXHAUSTED;
}

/** For checks of one whole value: large ones cost more, so that many subschemas cannot go over them many times. */
export function spendOn(value: unknown, checks: number): void {
  let weight = 1;
  if (typeof value === "string") weight += value.length >> 6;
  else if (Array.isArray(value)) weight += value.length;
  else {
    let members = 0;
    for (const _ in value as object) members++;
    // Engines keep large objects in tables, and list those anew for every walk.
    if (members > 16) weight += members > 1_000 ? members * 8 : members;
  }
  spend(checks * weight);
}

/** Runs a check that a `$ref` leads to. */
export function deeper(check: (value: unknown) => boolean, value: unknown): boolean {
  spendOn(value, 1);
  if (--depth < 0) throw EXHAUSTED;
  const ok = check(value);
  depth++;
  return ok;
}

/**
 * Runs with a fresh budget; false when that is used up. The stack is as much a budget as the steps are: a value that
 * overflows it is refused, not a crash.
 */
export function within(limits: Limits, run: (value: unknown) => unknown, value: unknown): boolean {
  const outerSteps = steps;
  const outerDepth = depth;
  steps = limits.steps;
  depth = limits.refDepth;
  try {
    return run(value) !== false;
  } catch (thrown) {
    if (thrown === EXHAUSTED || thrown instanceof RangeError) return false;
    throw thrown;
  } finally {
    steps = outerSteps;
    depth = outerDepth;
  }
}
