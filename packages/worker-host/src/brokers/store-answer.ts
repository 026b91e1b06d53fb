import { type Foreign, membersOf } from "@keyhole/kernel/foreign";
import { fault, found, type StoreFault, type StoreResult } from "./store.ts";

/**
 * Reads the answer of a store once, and returns the checked copy. A malformed answer, or one that
 * throws, is `broken`.
 *
 * @param faults the faults that a store of this kind knows
 * @param read returns `undefined` for any other value
 */
export function readAnswer<Value, Own, Reason extends StoreFault>(
  foreign: Foreign<StoreResult<Value, Reason>>,
  faults: Readonly<Record<Reason, unknown>>,
  read: (value: Foreign<Value | undefined>) => Own | undefined,
): StoreResult<Own, Reason | "broken"> {
  try {
    const { ok, value, fault: reason } = membersOf(foreign, "ok", "value", "fault");
    if (ok !== true) return fault(typeof reason === "string" && Object.hasOwn(faults, reason) ? reason : "broken");
    const own = read(value);
    return own === undefined ? fault("broken") : found(own);
  } catch {
    return fault("broken");
  }
}
