import * as limits from "../limits.ts";
import type { Clock } from "../isolate/clock.ts";

/**
 * The time that one call has for all its runs. It pauses while a nested call waits for a person, so
 * no clock answers an approval request. All pauses together are bounded, because the tool continues
 * to run.
 */
export class Deadline {
  readonly #clock: Clock;
  /** As of `#sinceMs`. */
  #leftMs: number;
  #pauseLeftMs: number;
  #sinceMs: number;
  #pauses = 0;
  #stopTimer: () => void = () => {};
  #onDue: (() => void) | undefined;

  constructor(timeoutMs: number, clock: Clock, pauseLeftMs: number = limits.nestedPauseMs) {
    this.#clock = clock;
    this.#leftMs = timeoutMs;
    this.#pauseLeftMs = pauseLeftMs;
    this.#sinceMs = clock.monotonicMs();
  }

  get leftMs(): number {
    this.#settle();
    return this.#leftMs;
  }

  /** For how long it can still stand still. */
  get pauseLeftMs(): number {
    this.#settle();
    return this.#pauseLeftMs;
  }

  /** Calls back when the time is over, unless the returned function was called before. For one run at a time. */
  watch(onDue: () => void): () => void {
    this.#onDue = onDue;
    this.#arm();
    return () => {
      this.#onDue = undefined;
      this.#stopTimer();
    };
  }

  /** Stops the time until every pause has ended. Idempotent as a way back. */
  pause(): () => void {
    this.#settle();
    this.#pauses++;
    this.#arm();
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      this.#settle();
      this.#pauses--;
      this.#arm();
    };
  }

  get #stands(): boolean {
    return this.#pauses > 0 && this.#pauseLeftMs > 0;
  }

  #settle(): void {
    const nowMs = this.#clock.monotonicMs();
    const passedMs = nowMs - this.#sinceMs;
    this.#sinceMs = nowMs;
    const pausedMs = this.#pauses > 0 ? Math.min(passedMs, this.#pauseLeftMs) : 0;
    this.#pauseLeftMs -= pausedMs;
    this.#leftMs -= passedMs - pausedMs;
  }

  #arm(): void {
    this.#stopTimer();
    if (!this.#onDue) return;
    this.#stopTimer = this.#clock.after(this.#stands ? this.#pauseLeftMs : Math.max(0, this.#leftMs), () => {
      this.#settle();
      if (this.#stands || this.#leftMs > 0) this.#arm();
      else this.#onDue?.();
    });
  }
}
