import type { Limits } from "./limits.ts";
import { EXHAUSTED } from "./refusal.ts";

// The rest of the budget of the current check. There is one at a time: a check that begins inside another one, through
// an accessor in its value, puts back what it found.
let steps = 0;
let depth = 0;

export function spend(count: number): void {
  if ((steps -= count) < 0) throw EXHAUSTED;
}

/** For checks of one complete value: large ones cost more, so that many subschemas cannot go over them many times. */
export function spendOn(value: unknown, checks: number): void {
  let weight = 1;
  if (typeof value === "string") weight += value.length >> 6;
  else if (Array.isArray(value)) weight += value.length;
  else if (typeof value === "object" && value !== null) {
    let members = 0;
    for (const _ in value) members++;
    // Engines keep large objects in tables, and list those anew for every walk.
    if (members > 16) weight += members > 1_000 ? members * 8 : members;
  }
  spend(checks * weight);
}

/** Runs the check of a node that a `$ref` leads to. The walks over the value pay for that. */
export function deeper<Node>(check: (node: Node, value: unknown) => boolean, node: Node, value: unknown): boolean {
  if (--depth < 0) throw EXHAUSTED;
  spend(1);
  const ok = check(node, value);
  depth++;
  return ok;
}

/** Whether what was thrown says that a budget is used up. The stack is as much a budget as the steps are. */
export const isExhausted = (thrown: unknown): boolean => thrown === EXHAUSTED || thrown instanceof RangeError;

/** Runs with a fresh budget; `otherwise` where that is used up: a value that overflows it is refused, not a crash. */
export function within<Value, Result>(
  limits: Limits,
  run: (value: Value) => Result,
  value: Value,
  otherwise: Result,
): Result {
  const outerSteps = steps;
  const outerDepth = depth;
  steps = limits.steps;
  depth = limits.refDepth;
  try {
    return run(value);
  } catch (thrown) {
    if (isExhausted(thrown)) return otherwise;
    throw thrown;
  } finally {
    steps = outerSteps;
    depth = outerDepth;
  }
}
