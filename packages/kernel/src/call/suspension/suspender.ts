import { knownOptions } from "../../json/known-options.ts";
import { outermostOf } from "../record/ancestors.ts";
import type { SuspendOptions, Suspension } from "../arrival/call-options.ts";
import type { Departure } from "../points.ts";
import type { CallRecord } from "../record/record.ts";
import type { Decided } from "../steps/decide.ts";
import type { SuspendableRun } from "../steps/run.ts";
import type { Started } from "../steps/start.ts";
import { bytesOf } from "../../support/foreign.ts";
import type { CallResult } from "../../result.ts";
import { StateTable } from "../../state/table.ts";
import type { ExtensionContext } from "../extension.ts";
import type { CallSuspender } from "./call-suspender.ts";
import { SuspendableCall, type Restored } from "./suspension-port.ts";
import { obstacleOf, suspendCall, refusal } from "./suspend-call.ts";
import { resume, type SnapshotClaim } from "./resume.ts";
import { type SealingKey, sealingKey } from "./sealed-snapshot.ts";

export interface SuspenderOptions {
  /**
   * 32 random bytes that only the kernels have which may resume. They encrypt what the tool knows and what it was given, and tell whether any of it was changed.
   */
  readonly key: Uint8Array<ArrayBuffer>;
  /**
   * Returns whether the snapshot of this id is unused, and marks it as used. Kernels with one log
   * need none. Kernels with their own logs need a shared, lasting one. Only `true` means unused.
   * Default: the memory of this suspender and the kernel's log.
   */
  readonly claim?: (snapshotId: string) => boolean | Promise<boolean>;
}

/** Snapshots whose ids are remembered beside the log. */
const REMEMBERED = 10_000;
const WAIT_MS = 1_000;

/**
 * Lets the calls of a kernel be suspended to bytes while they wait, and be resumed from them.
 *
 * @throws TypeError when the key has not 32 bytes
 * @example
 * const kernel = await createKernel({ host: nodeHost(), policy, suspender: callSuspender({ key }) });
 */
export function callSuspender(options: SuspenderOptions): CallSuspender {
  return new Suspender(knownOptions(options, { key: true, claim: true }, "callSuspender"));
}

class Suspender implements CallSuspender {
  readonly name = "suspension";
  readonly suspension: CallSuspender["suspension"] = this;
  readonly #key: () => Promise<SealingKey>;
  readonly #claim: SuspenderOptions["claim"];
  readonly #calls = new Map<string, SuspendableCall>();
  readonly #thaws = new WeakMap<CallRecord, Restored>();
  /** Ids of snapshots that resumed here: each resumes once. */
  readonly #resumed = new StateTable<true>({
    name: "suspension.used",
    version: 1,
    maxRows: REMEMBERED,
    whenFull: "forget-oldest",
    codec: { encode: () => true, decode: (value) => (value === true ? true : undefined) },
  });
  /** Snapshots that are about to resume here. */
  readonly #claimed = new Set<string>();
  readonly state = [this.#resumed];
  /** Those who wait for something to change. */
  readonly #watchers = new Set<() => void>();
  #context: ExtensionContext | undefined;

  constructor({ key, claim }: SuspenderOptions) {
    const bytes = new Uint8Array(bytesOf(key) ?? []);
    if (bytes.length !== 32) throw new TypeError(`The key of a suspender has 32 bytes, not ${bytes.length}.`);
    if (claim !== undefined && typeof claim !== "function") throw new TypeError("`claim` is not a function.");
    let imported: Promise<SealingKey> | undefined;
    this.#key = () => (imported ??= sealingKey(bytes));
    this.#claim = claim;
  }

  open(context: ExtensionContext): void {
    if (this.#context) throw new TypeError("A suspender serves one kernel: make another one for this one.");
    this.#context = context;
  }

  onArrival(call: CallRecord): void {
    call.isSuspendable = true;
    const live = new SuspendableCall(call, () => this.#changed());
    this.#calls.set(call.callId, live);
    call.defer(() => {
      // A call resumed here may have taken its place.
      if (this.#calls.get(call.callId) === live) this.#calls.delete(call.callId);
      live.end();
    });
    if (call.parent) this.#calls.get(call.parent.call.callId)?.begins(live);
  }

  onQuestion(decided: Decided): Departure | undefined {
    return this.#calls.get(decided.call.callId)?.asks(decided);
  }

  onRun(started: Started): SuspendableRun | undefined {
    const { call } = started;
    const thaw = this.#thaws.get(call);
    this.#thaws.delete(call); // Another attempt begins anew.
    return this.#calls.get(call.callId)?.runs(started, thaw);
  }

  async suspend(callId: string, options: SuspendOptions): Promise<Suspension> {
    const { waitMs = WAIT_MS } = knownOptions(options, { waitMs: 0 }, "kernel.suspend");
    const context = this.#opened();
    const live = this.#calls.get(callId);
    if (!live)
      return refusal("CALL_NOT_FOUND", `No call ${callId.slice(0, 80).toWellFormed()} is in progress in this kernel.`);
    if (live.call.parent) {
      const hint = `Suspend ${outermostOf(live.call).callId}: the nested call follows it.`;
      return refusal("NOT_OUTERMOST", "The call is a nested call.", hint);
    }
    if (live.isPaused) return refusal("NOT_WAITING", "Its suspension has begun.");
    const key = await this.#key();
    live.pause();
    await this.#until(() => live.hasEnded || !obstacleOf(live, false), context, waitMs);
    const suspension = obstacleOf(live, true) ?? (await suspendCall(live, key, context));
    if (!suspension.ok) live.unpause();
    return suspension;
  }

  resume(bytes: unknown, options: unknown): Promise<CallResult> {
    return resume(bytes, options, this.#opened(), {
      key: this.#key,
      claim: (snapshotId) => this.#claimOf(snapshotId),
      thaws: (call, thaw) => this.#thaws.set(call, thaw),
    });
  }

  #opened(): ExtensionContext {
    if (this.#context) return this.#context;
    throw new TypeError("The suspender belongs to no kernel: give it to createKernel.");
  }

  /** At once in this process, so that of two at the same time one is refused. */
  #claimOf(snapshotId: string): SnapshotClaim | undefined {
    if (this.#resumed.get(snapshotId) || this.#claimed.has(snapshotId)) return undefined;
    this.#claimed.add(snapshotId);
    const claim = this.#claim;
    return {
      isShared: claim !== undefined,
      undo: () => void this.#claimed.delete(snapshotId),
      confirm: async () => {
        const answer: unknown = claim === undefined || (await claim(snapshotId));
        return answer === true;
      },
      changes: () => {
        this.#claimed.delete(snapshotId);
        return this.#resumed.put(snapshotId, true);
      },
    };
  }

  #changed(): void {
    for (const watcher of this.#watchers) watcher();
  }

  #until(isThere: () => boolean, { clock }: ExtensionContext, waitMs: number): Promise<void> {
    if (waitMs <= 0 || isThere()) return Promise.resolve();
    return new Promise((resolve) => {
      const leave = (): void => {
        stopTimer();
        this.#watchers.delete(look);
        resolve();
      };
      const look = (): void => void (isThere() && leave());
      const stopTimer = clock.after(waitMs, leave);
      this.#watchers.add(look);
    });
  }
}
