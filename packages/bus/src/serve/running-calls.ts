import type { Clock } from "@keyhole/kernel";
import { Shares } from "@keyhole/kernel/context";
import type { OutgoingMessage } from "../port.ts";
import { newToken } from "../wire/token.ts";
import { type KnownCaller, senderOf } from "./callers.ts";
import type { BusRequest } from "./request.ts";

/** Remembered calls: the running ones, and the ones whose result a caller can fetch again. */
const MOST_CALLS = 100_000;
/** At the same time. The kernel bounds those of each tool. */
const MOST_RUNNING = 1_000;
/** Results that are kept for callers that lost them, each with the arguments of its call. The largest one alone fits. */
const RESULTS_BYTES = 26_214_400;
/** Bodies of requests, until their calls are over. The largest fits where its caller has three more. */
const RUNNING_BYTES = 67_108_864;
/** The cost of a message beside its body, in bytes. */
const MESSAGE_COST_BYTES = 512;
/** Behind its deadline, for a clock that is behind. */
const KEPT_MS = 5_000;
/** Calls are forgotten by the second, so that no request looks at all of them. */
const SECOND_MS = 1_000;

/** One call, from its request until its deadline has passed: the same request again is the same call. */
export interface KnownCall {
  readonly reply: string;
  readonly correlation: string;
  readonly deadlineMs: number;
  readonly from: KnownCaller;
  /** `undefined` when it is over. */
  cancel: AbortController | undefined;
  /** Names this kernel to the caller of a call that it offered to run. */
  readonly token: string | undefined;
  /** Runs it, when its caller has taken the offer. */
  start: (() => void) | undefined;
  /** Of its request, which is held while it runs. */
  readonly runningBytes: number;
  /** Messages so far. */
  sequence: number;
  /** How often its result was sent. */
  told: number;
  /** For a caller that asks again; `undefined` while it runs, and without room for it. */
  result: KeptReply | undefined;
}

/** The messages of a result. Those that tell of an output need the kernel's leave each time. */
export interface KeptReply {
  readonly bytes: number;
  readonly open: () => Promise<readonly OutgoingMessage[]>;
}

/** The calls of one server by caller and correlation. Each caller leaves as many places free as it has itself: so no caller takes all. */
export class RunningCalls {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #calls = new Map<string, KnownCall>();
  readonly #all = new Shares();
  readonly #running = new Shares();
  readonly #runningBytes = new Shares();
  /** By the second in which they may be forgotten. */
  readonly #leaving = new Map<number, KnownCall[]>();
  /** The oldest first. */
  readonly #kept = new Set<KnownCall>();
  readonly #keptBytes = new Shares();
  #sweptAt = 0;

  constructor(clock: Clock, most: number = MOST_CALLS) {
    this.#clock = clock;
    this.#most = most;
  }

  find(from: KnownCaller, correlation: string): KnownCall | undefined {
    return this.#calls.get(keyOf(from, correlation));
  }

  /** `undefined` where there is no room for one more of this caller. */
  add(from: KnownCaller, request: BusRequest, bodyBytes: number): KnownCall | undefined {
    this.#sweep();
    const { reply, correlation, deadlineMs, key, isSealed } = request;
    // Only a seal tells the caller from a listener, and one kernel owns each key. A caller that seals knows that nothing runs before its take.
    const token = (from.credential || isSealed) && key === undefined ? newToken() : undefined;
    const runningBytes = bodyBytes + MESSAGE_COST_BYTES;
    if (!this.#hasRoom(from, runningBytes)) return undefined;
    const call: KnownCall = {
      reply,
      correlation,
      deadlineMs,
      from,
      cancel: new AbortController(),
      token,
      start: undefined,
      runningBytes,
      sequence: 0,
      told: 0,
      result: undefined,
    };
    this.#calls.set(keyOf(from, correlation), call);
    const { caller } = from.caller;
    this.#all.add(caller, 1);
    this.#running.add(caller, 1);
    this.#runningBytes.add(caller, runningBytes);
    this.#leave(call, secondOf(deadlineMs + KEPT_MS) + 1);
    return call;
  }

  end(call: KnownCall, result: KeptReply): void {
    call.cancel = undefined;
    call.result = result;
    const { caller } = call.from.caller;
    this.#running.add(caller, -1);
    this.#runningBytes.add(caller, -call.runningBytes);
    this.#kept.add(call);
    this.#keptBytes.add(caller, result.bytes);
    while (this.#keptBytes.total > RESULTS_BYTES) {
      const oldest = this.#keptBytes.next(this.#kept.entries(), ({ from }) => from.caller.caller);
      if (oldest) this.#drop(oldest);
    }
  }

  #drop(call: KnownCall): void {
    if (!this.#kept.delete(call) || !call.result) return;
    this.#keptBytes.add(call.from.caller.caller, -call.result.bytes);
    call.result = undefined;
  }

  #hasRoom({ caller: { caller } }: KnownCaller, runningBytes: number): boolean {
    return (
      !this.#all.isFull(caller, this.#most) &&
      !this.#running.isFull(caller, MOST_RUNNING) &&
      !this.#runningBytes.isFull(caller, RUNNING_BYTES, runningBytes)
    );
  }

  #leave(call: KnownCall, second: number): void {
    const leaving = this.#leaving.get(second);
    if (leaving) leaving.push(call);
    else this.#leaving.set(second, [call]);
  }

  #sweep(): void {
    const second = secondOf(this.#clock.now());
    if (second === this.#sweptAt) return;
    this.#sweptAt = second;
    for (const [leavesAt, calls] of this.#leaving) {
      if (leavesAt > second) continue;
      this.#leaving.delete(leavesAt);
      for (const call of calls) this.#forget(call, second);
    }
  }

  #forget(call: KnownCall, second: number): void {
    if (call.cancel) return this.#leave(call, second + 1);
    this.#drop(call);
    this.#calls.delete(keyOf(call.from, call.correlation));
    this.#all.add(call.from.caller.caller, -1);
  }
}

/** The cost of messages that are kept. */
export function bytesOf(result: readonly OutgoingMessage[]): number {
  return result.reduce((sum, { body }) => sum + body.length + MESSAGE_COST_BYTES, 0);
}

function secondOf(timeMs: number): number {
  return Math.floor(timeMs / SECOND_MS);
}

function keyOf(from: KnownCaller, correlation: string): string {
  return `${senderOf(from)} ${correlation}`;
}
