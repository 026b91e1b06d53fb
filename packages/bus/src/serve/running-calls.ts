import type { Clock } from "@keyhole/kernel";
import type { OutgoingMessage } from "../port.ts";
import type { KnownCaller } from "./callers.ts";
import type { BusRequest } from "./request.ts";

/** Calls that are remembered: those that run, and those whose result can be asked for again. */
const MOST_CALLS = 20_000;
/** At the same time. The kernel bounds those of each tool. */
const MOST_RUNNING = 1_000;
/** Between two searches for calls that are forgotten. */
const SWEEP_MS = 1_000;
/** Results that are kept for callers that lost them. */
const RESULT_BYTES = 16_777_216;
/** Behind its deadline, for a clock that is behind. */
export const KEPT_MS = 60_000;

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

interface Count {
  all: number;
  running: number;
}

/** The calls of one server by caller and correlation. Each caller leaves as many places free as it has itself: so no caller takes all. */
export class RunningCalls {
  readonly #clock: Clock;
  readonly #calls = new Map<string, KnownCall>();
  readonly #counts = new Map<string, Count>();
  /** The oldest first. */
  readonly #kept = new Set<KnownCall>();
  #bytes = 0;
  #running = 0;
  #sweptMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  find(from: KnownCaller, correlation: string): KnownCall | undefined {
    return this.#calls.get(keyOf(from, correlation));
  }

  /** `undefined` where there is no room for one more of this caller. */
  add(from: KnownCaller, request: BusRequest): KnownCall | undefined {
    if (!this.#hasRoom(from)) this.#sweep();
    if (!this.#hasRoom(from)) return undefined;
    const call: KnownCall = {
      request,
      from,
      cancel: new AbortController(),
      sequence: 0,
      isOver: false,
      result: undefined,
    };
    this.#calls.set(keyOf(from, request.correlation), call);
    this.#count(from, 1, 1);
    return call;
  }

  end(call: KnownCall, result: OutgoingMessage): void {
    call.isOver = true;
    call.result = result;
    this.#count(call.from, 0, -1);
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

  #hasRoom(from: KnownCaller): boolean {
    const { all, running } = this.#counts.get(ownerOf(from)) ?? { all: 0, running: 0 };
    return all < MOST_CALLS - this.#calls.size && running < MOST_RUNNING - this.#running;
  }

  #count(from: KnownCaller, all: number, running: number): void {
    const owner = ownerOf(from);
    const count = this.#counts.get(owner) ?? { all: 0, running: 0 };
    count.all += all;
    count.running += running;
    this.#running += running;
    if (count.all > 0) this.#counts.set(owner, count);
    else this.#counts.delete(owner);
  }

  #sweep(): void {
    const nowMs = this.#clock.now();
    if (Math.abs(nowMs - this.#sweptMs) < SWEEP_MS) return;
    this.#sweptMs = nowMs;
    for (const [key, call] of this.#calls) {
      if (!call.isOver || call.request.deadlineMs + KEPT_MS > nowMs) continue;
      this.#drop(call);
      this.#calls.delete(key);
      this.#count(call.from, -1, 0);
    }
  }
}

function ownerOf({ caller, credential }: KnownCaller): string {
  return JSON.stringify([credential?.id ?? null, caller.caller]);
}

function keyOf(from: KnownCaller, correlation: string): string {
  return `${ownerOf(from)} ${correlation}`;
}
