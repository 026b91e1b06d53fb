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
  /** The tool of each call, as `name@version`. */
  readonly #calls = new Map<string, string>();
  #asked: Promise<unknown> = Promise.resolve();
  readonly #spent: Record<Kind, number>;
  readonly #budget: RunBudget;
  readonly #countsFuel: (tool: string) => Promise<boolean>;

  /** @param countsFuel whether the host of a tool counts fuel, which it may not do for the calling one */
  constructor(
    spent: Record<Kind, number>,
    budget: RunBudget,
    signal: AbortSignal | undefined,
    countsFuel: (tool: string) => Promise<boolean>,
  ) {
    this.#spent = spent;
    this.#budget = budget;
    this.#countsFuel = countsFuel;
    this.signal = AbortSignal.any([...(signal ? [signal] : []), this.#controller.signal]);
  }

  /** Takes each event of the call and of the calls within. */
  readonly hear = ({ type, callId, payload }: AuditEvent): void => {
    if (callId === null) return;
    if (type === "call.invoked" && "parentCallId" in payload && payload.parentCallId !== null) {
      this.#calls.set(callId, payload.tool);
      this.#spend("calls", 1);
    }
    const tool = this.#calls.get(callId);
    if (tool === undefined) return;
    if ("fuelUsed" in payload) this.#spend("fuel", payload.fuelUsed);
    else if (type === "tool.failed") this.#failed(tool);
  };

  /** Resolves when all calls so far are charged. */
  async settled(): Promise<void> {
    for (let seen; seen !== this.#asked; await seen) seen = this.#asked;
  }

  /** A call without a bound of its own that nothing counted, such as one at its deadline, costs the rest. */
  #failed(tool: string): void {
    const { fuel } = this.#budget;
    if (fuel === undefined) return;
    const charged = this.#countsFuel(tool).then((counts) => {
      if (counts) this.#spend("fuel", Math.max(0, fuel - this.#spent.fuel));
    });
    this.#asked = Promise.allSettled([this.#asked, charged]);
  }

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
