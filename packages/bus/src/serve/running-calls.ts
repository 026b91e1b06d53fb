import type { Clock } from "@keyhole/kernel";
import type { OutgoingMessage } from "../port.ts";
import type { KnownCaller } from "./callers.ts";
import type { BusRequest } from "./request.ts";

/** Calls that are remembered: those that run, and those whose result can be asked for again. */
const MOST_CALLS = 20_000;
/** Results that are kept for callers that lost them. */
const RESULT_BYTES = 16_777_216;
/** Behind its deadline, for a clock that is behind. */
const KEPT_MS = 60_000;

/** One call, from its request until its deadline has long passed: the same request again is the same call. */
export interface KnownCall {
  readonly request: BusRequest;
  readonly from: KnownCaller;
  readonly cancel: AbortController;
  /** Messages so far. */
  sequence: number;
  isOver: boolean;
  /** `undefined` while it runs, and when there was no room for it any more. */
  result: OutgoingMessage | undefined;
}

/** The calls of one server by caller and correlation. */
export class RunningCalls {
  readonly #clock: Clock;
  readonly #calls = new Map<string, KnownCall>();
  /** The oldest first. */
  readonly #kept = new Set<KnownCall>();
  #bytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  find(from: KnownCaller, correlation: string): KnownCall | undefined {
    return this.#calls.get(keyOf(from, correlation));
  }

  /** `undefined` where there is no room for one more. */
  add(from: KnownCaller, request: BusRequest): KnownCall | undefined {
    if (this.#calls.size >= MOST_CALLS) this.#sweep();
    if (this.#calls.size >= MOST_CALLS) return undefined;
    const call: KnownCall = {
      request,
      from,
      cancel: new AbortController(),
      sequence: 0,
      isOver: false,
      result: undefined,
    };
    this.#calls.set(keyOf(from, request.correlation), call);
    return call;
  }

  end(call: KnownCall, result: OutgoingMessage): void {
    call.isOver = true;
    call.result = result;
    this.#kept.add(call);
    this.#bytes += result.body.length;
    for (const oldest of this.#kept) {
      if (this.#bytes <= RESULT_BYTES) break;
      this.#drop(oldest);
    }
  }

  #drop(call: KnownCall): void {
    if (!this.#kept.delete(call)) return;
    this.#bytes -= call.result?.body.length ?? 0;
    call.result = undefined;
  }

  #sweep(): void {
    const nowMs = this.#clock.now();
    for (const [key, call] of this.#calls) {
      if (!call.isOver || call.request.deadlineMs + KEPT_MS > nowMs) continue;
      this.#drop(call);
      this.#calls.delete(key);
    }
  }
}

function keyOf({ caller, credential }: KnownCaller, correlation: string): string {
  return JSON.stringify([credential?.id ?? null, caller.caller, correlation]);
}
