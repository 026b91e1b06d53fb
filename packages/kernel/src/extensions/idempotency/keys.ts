import type { UsedKey } from "../../audit/log.ts";
import type { Clock } from "../../isolate/clock.ts";
import { limits } from "../../limits.ts";
import type { Hash } from "../../normalize/hash.ts";
import type { Ending } from "../../call/ending.ts";
import { CallFault } from "../../call/fault.ts";
import type { CallIdentity } from "../../call/entry.ts";

/** What a call under an idempotency key is about. A key belongs to its caller. */
export interface KeyedCall {
  readonly caller: string;
  readonly key: string;
  readonly tool: string;
  readonly inputHash: string;
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

interface Entry {
  readonly caller: string;
  readonly argsHash: string;
  /** On the monotonic clock. */
  readonly untilMs: number;
  state:
    | { readonly kind: "running"; readonly ending: Promise<Ending> }
    | { readonly kind: "ended"; readonly ending: Ending; readonly bytes: number }
    /** It ran, and what came of it is not known here. */
    | { readonly kind: "unknown"; readonly callId: string };
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
  readonly #entries = new Map<string, Entry>();
  readonly #counts = new Map<string, number>();
  #bytes = 0;

  constructor(clock: Clock, hash: Hash, used: readonly UsedKey[] = []) {
    this.#clock = clock;
    this.#hash = hash;
    for (const { keyHash, argsHash, callId, usedAtMs } of used) {
      const ageMs = Math.max(0, clock.now() - usedAtMs);
      const untilMs = clock.monotonicMs() + limits.keyMs - ageMs;
      this.#entries.set(keyHash, { caller: "", argsHash, untilMs, state: { kind: "unknown", callId } });
    }
  }

  claim({ caller, key, tool, inputHash }: KeyedCall): Claim {
    this.#expire();
    const keyHash = this.#hash.text(JSON.stringify([caller, key]));
    const argsHash = this.#hash.text(JSON.stringify([tool, inputHash]));
    const entry = this.#entries.get(keyHash);
    if (!entry) return this.#first(keyHash, argsHash, caller);
    if (entry.argsHash !== argsHash) return refused("other-arguments", "was used for another tool or other arguments");
    const { state } = entry;
    if (state.kind !== "unknown") return state;
    return refused("outcome-unknown", "was used, and what came of it is not known any more", state.callId);
  }

  /** The key of a call that was suspended and goes on: as {@link claim} gave it; `undefined` where it is another call's by now. */
  resume(
    keyHash: string,
    argsHash: string,
    { caller, callId }: Pick<CallIdentity, "caller" | "callId">,
  ): Claim | undefined {
    const entry = this.#entries.get(keyHash);
    if (entry) {
      const { state } = entry;
      const user = state.kind === "unknown" ? state.callId : state.kind === "ended" ? state.ending.callId : "";
      if (user !== callId) return undefined;
      this.#forget(keyHash, entry);
    }
    return this.#first(keyHash, argsHash, caller);
  }

  /** Keys that are in use now. */
  get running(): number {
    let count = 0;
    for (const { state } of this.#entries.values()) if (state.kind === "running") count++;
    return count;
  }

  #first(keyHash: string, argsHash: string, caller: string): Claim {
    const count = this.#counts.get(caller) ?? 0;
    const untilMs = this.#clock.monotonicMs() + limits.keyMs;
    if (count >= limits.keysPerCaller || this.#entries.size >= limits.keys)
      return { kind: "refused", fault: this.#full(caller) };
    let tell: (ending: Ending) => void = () => {};
    const ending = new Promise<Ending>((resolve) => (tell = resolve));
    const entry: Entry = { caller, argsHash, untilMs, state: { kind: "running", ending } };
    this.#entries.set(keyHash, entry);
    this.#counts.set(caller, count + 1);
    const end = (ended: Ending, mayRunAgain: boolean): void => {
      if (!ended.hasStarted || mayRunAgain) this.#forget(keyHash, entry);
      else this.#keep(entry, ended);
      tell(ended);
    };
    return { kind: "first", keyHash, argsHash, end };
  }

  #keep(entry: Entry, ending: Ending): void {
    const bytes = bytesOf(ending);
    entry.state = { kind: "ended", ending, bytes };
    this.#bytes += bytes;
    // The oldest results go first; their keys stay used.
    for (const each of this.#entries.values()) {
      if (this.#bytes <= limits.keptBytes) return;
      if (each.state.kind !== "ended") continue;
      this.#bytes -= each.state.bytes;
      each.state = { kind: "unknown", callId: each.state.ending.callId };
    }
  }

  #expire(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [keyHash, entry] of this.#entries) {
      if (entry.untilMs > nowMs) return;
      if (entry.state.kind !== "running") this.#forget(keyHash, entry);
    }
  }

  #forget(keyHash: string, entry: Entry): void {
    if (!this.#entries.delete(keyHash)) return;
    if (entry.state.kind === "ended") this.#bytes -= entry.state.bytes;
    const left = (this.#counts.get(entry.caller) ?? 0) - 1;
    if (left > 0) this.#counts.set(entry.caller, left);
    else this.#counts.delete(entry.caller);
  }

  #full(owner: string): CallFault {
    const oldest = [...this.#entries.values()].find(({ caller }) => caller === owner);
    const retryAfterMs = Math.max(1, Math.ceil((oldest?.untilMs ?? 0) - this.#clock.monotonicMs()));
    return new CallFault("RATE_LIMITED", "There is no room for one more idempotency key of this caller.", {
      details: { bound: "idempotencyKeys", limit: limits.keysPerCaller, retryAfterMs },
      hint: "Call without a key what may run twice.",
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
      hint: "Find out what the first call did; a new key runs it anew.",
    }),
  };
}
