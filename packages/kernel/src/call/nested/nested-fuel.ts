import type { CallRecord } from "../record/record.ts";

/** Fuel for the calls within one call, together as much as its caller gave the call itself. */
interface NestedFuel {
  left: number;
  /** Calls under one bound run one after the other: each may use all that is left. */
  inTurn<T>(make: () => Promise<T>): Promise<T>;
}

const shares = new WeakMap<CallRecord, NestedFuel>();

/** `undefined` where no caller bounds the fuel. */
export function fuelOf(call: CallRecord): NestedFuel | undefined {
  const known = shares.get(call);
  const left = call.parent?.fuelLeft ?? call.options.bounds?.fuel ?? Infinity;
  return known || left === Infinity ? known : shareOf(call, left);
}

/** Of a call that resumes: the calls within it have the rest, and no new bound. */
export function restoreFuel(call: CallRecord, left: number | null): void {
  if (left !== null) shareOf(call, left);
}

function shareOf(call: CallRecord, left: number): NestedFuel {
  let last: Promise<unknown> = Promise.resolve();
  let unfinished = 0;
  const share: NestedFuel = {
    left,
    inTurn(make) {
      // With nobody before it a call begins at once: a suspension knows its request by that.
      const made = unfinished++ === 0 ? make() : last.then(make);
      const leave = (): void => void unfinished--;
      last = made.then(leave, leave);
      return made;
    },
  };
  shares.set(call, share);
  return share;
}

/** Charges the fuel of a call within to all calls around it. */
export function spendFuel(parent: CallRecord, amount: number): void {
  for (let each: CallRecord | undefined = parent; each; each = each.parent?.call) {
    const share = fuelOf(each);
    if (share) share.left = Math.max(0, share.left - amount);
  }
}
