import * as limits from "../../limits.ts";
import type { Hash } from "../../hash/hash.ts";
import { type JsonValue, isJsonArray } from "../../json/json.ts";
import { noChanges, type StateChange } from "../../state/change.ts";
import type { SteadyClock } from "../../state/steady-clock.ts";
import { StateTable } from "../../state/table.ts";
import type { Ending } from "../../call/ending/ending.ts";
import { CallFault } from "../../call/faults/fault.ts";
import { resultGone } from "../../call/ending/given-again.ts";
import { Shares } from "../../support/shares.ts";

/** The subject of a call under an idempotency key. A key belongs to its caller. */
export interface KeyedCall {
  readonly caller: string;
  readonly callId: string;
  readonly key: string;
  /** Its name: every version does the same deed. */
  readonly tool: string;
  readonly toolId: string;
  readonly inputHash: string;
}

export type Claim =
  /** The first call under the key. It has to say how it ended, on every way out. */
  | {
      readonly kind: "first";
      readonly keyHash: string;
      readonly argsHash: string;
      /** For the event from which on the key is used. */
      readonly used: () => readonly StateChange[];
      /** For the event from which on it is free again. */
      readonly freed: () => readonly StateChange[];
      readonly end: (ending: Ending) => void;
    }
  | { readonly kind: "running"; readonly ending: Promise<Ending> }
  | { readonly kind: "ended"; readonly ending: Ending }
  | { readonly kind: "refused"; readonly fault: CallFault };

/** The use of one key, from the start of its call on: a forgotten key would run its call twice. */
interface UsedKeyRow {
  readonly caller: string;
  /** `name@version`. */
  readonly toolId: string;
  readonly argsHash: string;
  readonly callId: string;
  /** Since the epoch. */
  readonly usedMs: number;
}

/** A sweep reads every row. */
const SWEEP_MS = 1_000;

/**
 * The used idempotency keys and their outcomes. A key of a started call stays used until it
 * expires: the kernel repeats the outcome and never the operation, also if the outcome is unknown.
 * A key of a call that never started is free. The number of keys has a bound. The kernel refuses a
 * caller without room for one more, because a forgotten key could run twice.
 */
export class Keys {
  readonly table: StateTable<UsedKeyRow> = new StateTable<UsedKeyRow>({
    name: "idempotency.keys",
    version: 1,
    maxRows: limits.keys,
    whenFull: "refuse",
    untilMs: ({ usedMs }) => usedMs + limits.keyMs,
    writtenMs: ({ usedMs }) => usedMs,
    codec: {
      encode: ({ caller, toolId, argsHash, callId, usedMs }) => [caller, toolId, argsHash, callId, usedMs],
      decode: readRow,
    },
  });
  readonly #clock: () => SteadyClock;
  readonly #hash: () => Hash;
  /** Running calls under a key, for the equal calls that wait for them. */
  readonly #running = new Map<string, { readonly row: UsedKeyRow; readonly ending: Promise<Ending> }>();
  /** Outcomes of calls, the oldest first. */
  readonly #results = new Map<string, { readonly caller: string; readonly bytes: number; readonly ending: Ending }>();
  /** Their bytes by caller. */
  readonly #bytes = new Shares();
  /** Used keys by caller, those of running calls included. */
  readonly #used = new Shares();
  #nextSweepMs = 0;

  constructor(parts: () => { readonly steady: SteadyClock; readonly hash: Hash }) {
    this.#clock = () => parts().steady;
    this.#hash = () => parts().hash;
  }

  /** The rows of the log are there. */
  open(): void {
    for (const [, { caller }] of this.table.entries()) this.#used.add(caller, 1);
  }

  claim({ caller, callId, key, tool, toolId, inputHash }: KeyedCall): Claim {
    this.#sweep();
    const keyHash = this.#hash().text(JSON.stringify([caller, key]));
    const argsHash = this.#hash().text(JSON.stringify([tool, inputHash]));
    const running = this.#running.get(keyHash);
    const row = running?.row ?? this.#rowOf(keyHash);
    if (!row) return this.#first(keyHash, { caller, toolId, argsHash, callId });
    if (row.argsHash !== argsHash)
      return refused("other-arguments", "was used before for another tool or other arguments");
    if (running) return { kind: "running", ending: running.ending };
    const result = this.#results.get(keyHash);
    if (result) return { kind: "ended", ending: result.ending };
    return { kind: "refused", fault: resultGone(row.callId) };
  }

  /**
   * The key of a resumed call, as {@link claim} returned it; `undefined` when another call has it.
   */
  resume(keyHash: string, call: Omit<UsedKeyRow, "usedMs">): Claim | undefined {
    const row = this.#rowOf(keyHash);
    if (this.#running.has(keyHash) || (row && row.callId !== call.callId)) return undefined;
    this.#forgetResult(keyHash);
    return row ? this.#begin(keyHash, row) : this.#first(keyHash, call);
  }

  /** Forgets the outcomes of one tool. Its keys stay used. */
  forgetResults(toolId: string): void {
    for (const [keyHash, { row }] of this.#running) if (row.toolId === toolId) this.#running.delete(keyHash);
    for (const keyHash of this.#results.keys())
      if (this.table.get(keyHash)?.toolId === toolId) this.#forgetResult(keyHash);
  }

  /** Keys that are in use now. */
  get running(): number {
    return this.#running.size;
  }

  #rowOf(keyHash: string): UsedKeyRow | undefined {
    const row = this.table.get(keyHash);
    return row && row.usedMs + limits.keyMs > this.#clock().now() ? row : undefined;
  }

  #first(keyHash: string, call: Omit<UsedKeyRow, "usedMs">): Claim {
    const { caller } = call;
    if (this.#used.of(caller) >= limits.keysPerCaller || this.#used.isFull(caller, limits.keys))
      return { kind: "refused", fault: this.#full(caller) };
    this.#used.add(caller, 1);
    return this.#begin(keyHash, { ...call, usedMs: this.#clock().now() });
  }

  #begin(keyHash: string, row: UsedKeyRow): Claim {
    const { caller, argsHash } = row;
    const { promise, resolve } = Promise.withResolvers<Ending>();
    this.#running.set(keyHash, { row, ending: promise });
    const end = (ended: Ending): void => {
      const isKnown = this.#running.delete(keyHash);
      if (this.table.get(keyHash) !== row) this.#used.add(caller, -1);
      else if (isKnown) this.#keep(keyHash, caller, ended);
      resolve(ended);
    };
    const used = (): readonly StateChange[] =>
      this.table.get(keyHash) === row ? noChanges : this.table.put(keyHash, row);
    return { kind: "first", keyHash, argsHash, used, freed: () => this.table.remove(keyHash), end };
  }

  #keep(keyHash: string, caller: string, ending: Ending): void {
    const bytes = bytesOf(ending);
    this.#results.set(keyHash, { caller, bytes, ending });
    this.#bytes.add(caller, bytes);
    // The oldest results of the caller with the most go first; their keys stay used.
    while (this.#bytes.total > limits.keptBytes) {
      const oldest = this.#bytes.next(this.#results, (result) => result.caller);
      this.#forgetResult(oldest ?? "");
    }
  }

  #forgetResult(keyHash: string): void {
    const result = this.#results.get(keyHash);
    if (!result) return;
    this.#results.delete(keyHash);
    this.#bytes.add(result.caller, -result.bytes);
  }

  #sweep(): void {
    const nowMs = this.#clock().now();
    if (nowMs < this.#nextSweepMs) return;
    this.#nextSweepMs = nowMs + SWEEP_MS;
    this.table.expire(nowMs, (keyHash, { caller }) => {
      this.#forgetResult(keyHash);
      if (!this.#running.has(keyHash)) this.#used.add(caller, -1);
    });
  }

  #full(owner: string): CallFault {
    const oldest = Array.from(this.table.entries()).find(([, { caller }]) => caller === owner);
    const untilMs = oldest ? oldest[1].usedMs + limits.keyMs : 0;
    const retryAfterMs = Math.max(1, Math.ceil(untilMs - this.#clock().now()));
    return new CallFault("RATE_LIMITED", "This caller has the maximum number of idempotency keys.", {
      details: { bound: "idempotencyKeys", limit: limits.keysPerCaller, retryAfterMs },
      hint: "Omit the key for calls that may run twice.",
      retryable: true,
    });
  }
}

/** A failure tells of a tool's output as well: names in it can be as large as the output. */
function bytesOf({ outcome }: Ending): number {
  return outcome.ok ? outcome.output.outputBytes : JSON.stringify(outcome.fault.error).length;
}

function readRow(value: JsonValue): UsedKeyRow | undefined {
  const [caller, toolId, argsHash, callId, usedMs] = isJsonArray(value) ? value : [];
  const isRead =
    typeof caller === "string" &&
    typeof toolId === "string" &&
    typeof argsHash === "string" &&
    typeof callId === "string" &&
    typeof usedMs === "number";
  return isRead ? { caller, toolId, argsHash, callId, usedMs } : undefined;
}

function refused(reason: string, what: string): Claim {
  return {
    kind: "refused",
    fault: new CallFault("INVALID_INPUT", `The idempotency key ${what}.`, {
      details: [{ path: "", keyword: "idempotencyKey", reason, callId: null }],
      hint: "Check the effects of the first call. A call with a new key runs the tool again.",
    }),
  };
}
