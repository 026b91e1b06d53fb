import type { UsedKey } from "../../audit/log.ts";
import type { Clock } from "../../isolate/clock.ts";
import { limits } from "../../limits.ts";
import type { Hash } from "../../hash/hash.ts";
import type { StateTable } from "../../state/table.ts";
import type { Ending } from "../../call/ending.ts";
import { CallFault } from "../../call/fault.ts";
import type { CallIdentity } from "../../call/entry.ts";

/** What a call under an idempotency key is about. A key belongs to its caller. */
export interface KeyedCall {
  readonly caller: string;
  readonly callId: string;
  readonly key: string;
  /** Its name: every version does the same deed. */
  readonly tool: string;
  readonly toolId: string;
  readonly inputHash: string;
}

interface KeyUser extends Pick<CallIdentity, "caller" | "callId"> {
  readonly toolId: string;
}

export type Claim =
  /** The first call under the key. It has to say how it ended, on every way out. */
  | {
      readonly kind: "first";
      readonly keyHash: string;
      readonly argsHash: string;
      readonly end: (ending: Ending, mayRunAgain: boolean) => void;
    }
  | { readonly kind: "running"; readonly ending: Promise<Ending> }
  | { readonly kind: "ended"; readonly ending: Ending }
  | { readonly kind: "refused"; readonly fault: CallFault };

/** The use of one key. It outlives the kernel: a forgotten key would run its call twice. */
export interface UsedKeyRow {
  /** Empty where only the log knows it. */
  readonly caller: string;
  /** `name@version`; empty where only the log knows the key. */
  readonly toolId: string;
  readonly argsHash: string;
  readonly callId: string;
  /** On the monotonic clock. */
  readonly untilMs: number;
  /** `null` while the call runs, and where its outcome is not known here any more. */
  readonly ending: Ending | null;
}

/**
 * What was done under which idempotency key. A key whose call started stays used until it expires: what it did is told again and never done again, also
 * where nobody can tell any more. One whose call never started is free. Bounded: a caller without room for one more key is refused, because forgetting
 * a key would be doing its work twice.
 */
export class Keys {
  readonly #clock: Clock;
  readonly #hash: Hash;
  /** The oldest first. */
  readonly #used: StateTable<UsedKeyRow>;
  /** Calls under a key that run in this kernel, for the equal calls that wait for them. */
  readonly #running = new Map<string, Promise<Ending>>();
  readonly #counts = new Map<string, number>();
  #bytes = 0;

  /** @param used what the log knows of keys */
  constructor(clock: Clock, hash: Hash, table: StateTable<UsedKeyRow>, used: readonly UsedKey[] = []) {
    this.#clock = clock;
    this.#hash = hash;
    this.#used = table;
    for (const { keyHash, argsHash, callId, usedAtMs } of used) {
      const ageMs = Math.max(0, clock.now() - usedAtMs);
      const untilMs = clock.monotonicMs() + limits.keyMs - ageMs;
      table.put(keyHash, { caller: "", toolId: "", argsHash, callId, untilMs, ending: null });
    }
  }

  claim({ caller, callId, key, tool, toolId, inputHash }: KeyedCall): Claim {
    this.#expire();
    const keyHash = this.#hash.text(JSON.stringify([caller, key]));
    const argsHash = this.#hash.text(JSON.stringify([tool, inputHash]));
    const row = this.#used.get(keyHash);
    if (!row) return this.#first(keyHash, argsHash, { caller, callId, toolId });
    if (row.argsHash !== argsHash)
      return refused("other-arguments", "was used before for another tool or other arguments");
    const running = this.#running.get(keyHash);
    if (running) return { kind: "running", ending: running };
    if (row.ending) return { kind: "ended", ending: row.ending };
    return refused("outcome-unknown", "was used before, and its result is no longer stored", row.callId);
  }

  /** The key of a call that was suspended and goes on: as {@link claim} gave it; `undefined` where it is another call's by now. */
  resume(keyHash: string, argsHash: string, call: KeyUser): Claim | undefined {
    const row = this.#used.get(keyHash);
    if (row && (this.#running.has(keyHash) || (row.ending ?? row).callId !== call.callId)) return undefined;
    if (row) this.#forget(keyHash, row);
    return this.#first(keyHash, argsHash, call);
  }

  /** Keys under which the tool of an id ran, or runs, stay used; what came of it is told nobody any more. */
  forgetResults(toolId: string): void {
    for (const [keyHash, row] of this.#used.entries()) {
      if (row.toolId !== toolId) continue;
      this.#running.delete(keyHash);
      this.#forgetResult(keyHash, row);
    }
  }

  #forgetResult(keyHash: string, row: UsedKeyRow): void {
    if (!row.ending) return;
    this.#bytes -= bytesOf(row.ending);
    this.#used.put(keyHash, { ...row, callId: row.ending.callId, ending: null });
  }

  /** Keys that are in use now. */
  get running(): number {
    return this.#running.size;
  }

  #first(keyHash: string, argsHash: string, { caller, callId, toolId }: KeyUser): Claim {
    const count = this.#counts.get(caller) ?? 0;
    const untilMs = this.#clock.monotonicMs() + limits.keyMs;
    if (count >= limits.keysPerCaller || this.#used.size >= limits.keys)
      return { kind: "refused", fault: this.#full(caller) };
    const { promise, resolve } = Promise.withResolvers<Ending>();
    const row: UsedKeyRow = { caller, toolId, argsHash, callId, untilMs, ending: null };
    this.#used.put(keyHash, row);
    this.#running.set(keyHash, promise);
    this.#counts.set(caller, count + 1);
    const end = (ended: Ending, mayRunAgain: boolean): void => {
      const isKnown = this.#running.delete(keyHash);
      if (!ended.hasStarted || mayRunAgain) this.#forget(keyHash, row);
      else if (isKnown) this.#keep(keyHash, row, ended);
      resolve(ended);
    };
    return { kind: "first", keyHash, argsHash, end };
  }

  #keep(keyHash: string, row: UsedKeyRow, ending: Ending): void {
    this.#used.put(keyHash, { ...row, ending });
    this.#bytes += bytesOf(ending);
    // The oldest results go first; their keys stay used.
    for (const [key, each] of this.#used.entries()) {
      if (this.#bytes <= limits.keptBytes) return;
      this.#forgetResult(key, each);
    }
  }

  #expire(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [keyHash, row] of this.#used.entries()) {
      if (row.untilMs > nowMs) return;
      if (!this.#running.has(keyHash)) this.#forget(keyHash, row);
    }
  }

  #forget(keyHash: string, { caller, ending }: UsedKeyRow): void {
    if (!this.#used.remove(keyHash)) return;
    if (ending) this.#bytes -= bytesOf(ending);
    const left = (this.#counts.get(caller) ?? 0) - 1;
    if (left > 0) this.#counts.set(caller, left);
    else this.#counts.delete(caller);
  }

  #full(owner: string): CallFault {
    const oldest = Array.from(this.#used.entries()).find(([, { caller }]) => caller === owner);
    const retryAfterMs = Math.max(1, Math.ceil((oldest?.[1].untilMs ?? 0) - this.#clock.monotonicMs()));
    return new CallFault("RATE_LIMITED", "This caller has the maximum number of idempotency keys.", {
      details: { bound: "idempotencyKeys", limit: limits.keysPerCaller, retryAfterMs },
      hint: "Omit the key for calls that may run twice.",
      retryable: true,
    });
  }
}

/** A failure tells of a tool's output as well: names in it can be as large as the output. */
function bytesOf({ outcome }: Ending): number {
  return outcome.ok ? outcome.output.outputBytes : JSON.stringify(outcome.fault).length;
}

function refused(reason: string, what: string, callId: string | null = null): Claim {
  return {
    kind: "refused",
    fault: new CallFault("INVALID_INPUT", `The idempotency key ${what}.`, {
      details: [{ path: "", keyword: "idempotencyKey", reason, callId }],
      hint: "Check the effects of the first call. A call with a new key runs the tool again.",
    }),
  };
}
