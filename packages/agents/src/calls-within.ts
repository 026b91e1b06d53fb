import type { AuditEvent } from "@keyhole/kernel";
import type { RunBudget } from "./run-parts.ts";

/** The parts of a budget that calls within a call use. */
type Kind = Extract<keyof RunBudget, "calls" | "fuel">;

/**
 * Charges the calls that a tool makes, such as those of a program, to the budget of the run. The call ends with the first of
 * them that is over it: the kernel tells its event before the tool runs.
 */
export class CallsWithin {
  /** The part that is used up: then the signal is aborted. */
  over: Kind | undefined;
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #ids = new Set<string>();
  readonly #spent: Record<Kind, number>;
  readonly #budget: RunBudget;

  constructor(spent: Record<Kind, number>, budget: RunBudget, signal: AbortSignal | undefined) {
    this.#spent = spent;
    this.#budget = budget;
    this.signal = AbortSignal.any([...(signal ? [signal] : []), this.#controller.signal]);
  }

  /** Takes each event of the call and of the calls within. */
  readonly hear = ({ type, callId, payload }: AuditEvent): void => {
    if (callId === null) return;
    if (type === "call.invoked" && "parentCallId" in payload && payload.parentCallId !== null) {
      this.#ids.add(callId);
      this.#spend("calls", 1);
    } else if (this.#ids.has(callId) && "fuelUsed" in payload) this.#spend("fuel", payload.fuelUsed);
  };

  #spend(kind: Kind, amount: number): void {
    const { [kind]: most = Infinity } = this.#budget;
    const isOver = kind === "calls" ? this.#spent.calls >= most : this.#spent.fuel + amount >= most;
    // The call that the budget has no place for does not run. Fuel is gone when its event comes.
    if (kind === "fuel" || !isOver) this.#spent[kind] += amount;
    if (!isOver) return;
    this.over ??= kind;
    this.#controller.abort();
  }
}
