import type { CallFault } from "../faults/fault.ts";
import type { Departure } from "../points.ts";
import type { CallRecord } from "../record/record.ts";
import type { Decided } from "../steps/decide.ts";
import type { SuspendableRun } from "../steps/run.ts";
import type { Started } from "../steps/start.ts";
import type { Lease } from "../../isolate/pool/lease.ts";
import type { OwnIsolate } from "../../isolate/bounded-call.ts";
import { type Again, type Pending, Requests } from "./requests.ts";

/** The run of a resumed call. */
export interface Restored {
  open(started: Started, isWanted: () => boolean): Promise<OwnIsolate>;
  again(started: Started): readonly Again<SuspendableCall>[];
}

/** Where a call is in its way, as far as its suspension is concerned. */
export type SuspensionPhase =
  | { readonly kind: "on-its-way" }
  | { readonly kind: "asking"; readonly decided: Decided; readonly leave: AbortController }
  | {
      readonly kind: "running";
      readonly started: Started;
      readonly requests: Requests<SuspendableCall>;
      /** Once it has an isolate. */
      leased: { readonly lease: Lease; readonly putAside: () => boolean } | undefined;
    };

/** One call that this suspender knows, as long as it is here. */
export class SuspendableCall {
  readonly call: CallRecord;
  phase: SuspensionPhase = { kind: "on-its-way" };
  hasEnded = false;
  /** It has stopped where it was, and waits for its snapshot. */
  isPut = false;
  #isPaused = false;
  readonly #changed: () => void;
  readonly #told: PromiseWithResolvers<CallFault> = Promise.withResolvers();

  constructor(call: CallRecord, changed: () => void) {
    this.call = call;
    this.#changed = changed;
  }

  asks(decided: Decided): Departure {
    const leave = new AbortController();
    this.phase = { kind: "asking", decided, leave };
    this.#changed();
    return { aside: leave.signal, put: () => this.#put() };
  }

  runs(started: Started, thaw: Restored | undefined): SuspendableRun {
    const requests = new Requests<SuspendableCall>(started.gate, thaw?.again(started) ?? [], this.#changed);
    if (this.#isPaused) requests.pause();
    const phase: SuspensionPhase = { kind: "running", started, requests, leased: undefined };
    this.phase = phase;
    return {
      gate: requests,
      onLease: (lease, putAside) => {
        phase.leased = { lease, putAside };
        this.#changed();
      },
      thaw: thaw && ((isWanted) => thaw.open(started, isWanted)),
      put: () => this.#put(),
    };
  }

  #put(): Promise<CallFault> {
    this.isPut = true;
    return this.#told.promise;
  }

  /** Why it ends here: its snapshot is on record, or lost. */
  tell(fault: CallFault): void {
    this.#told.resolve(fault);
  }

  end(): void {
    this.hasEnded = true;
    this.#changed();
  }

  /** A call that this one makes begins. */
  begins(child: SuspendableCall): void {
    if (this.phase.kind === "running") this.phase.requests.begins(child);
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Nothing that it asks for goes out, and no answer in, for it and for the calls that it waits for. */
  pause(): void {
    this.#isPaused = true;
    if (this.phase.kind === "running") this.phase.requests.pause();
    for (const child of this.children) child.pause();
  }

  unpause(): void {
    this.#isPaused = false;
    for (const child of this.children) child.unpause();
    if (this.phase.kind === "running") this.phase.requests.unpause();
  }

  get pending(): readonly Pending<SuspendableCall>[] {
    return this.phase.kind === "running" ? this.phase.requests.pending : [];
  }

  /** The calls that it waits for. */
  get children(): readonly SuspendableCall[] {
    return this.pending.flatMap(({ child, reply }) => (child && !reply ? [child] : []));
  }

  /** The call and all nested calls that it waits for, parents first. */
  get tree(): readonly SuspendableCall[] {
    return [this, ...this.children.flatMap((child) => child.tree)];
  }
}
