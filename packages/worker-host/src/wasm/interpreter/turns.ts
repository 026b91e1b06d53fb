import { type Callable, integration, type PromiseIntegration } from "../machine/suspend.ts";

/**
 * Fuel after which everything else of the thread has its turn: some milliseconds, which is far more than a turn costs. How the fuel is cut into turns changes nothing
 * of what a guest does or of what it costs.
 */
const TURN_FUEL = 100_000_000;

/** How a machine runs on its thread. */
export interface Turns {
  /** Wraps a function of the machine for its callers. */
  enter(callee: Callable): Callable;
  /** Its fuel is another from here on. */
  begin(fuelLeft: number): void;
  /** The function that the machine calls now and then while it computes. */
  readonly interrupt: Callable;
  /** A machine that waits for its turn never gets it. */
  stop(): void;
}

/** It runs to its end before anything else happens on the thread. */
const whole: Turns = { enter: (callee) => callee, begin() {}, interrupt: () => 0, stop() {} };

/**
 * On a thread that it shares, a machine runs in turns, where the engine can put a stack aside (JSPI): timers and other calls come in between, so that a deadline is
 * noticed, and a machine that was stopped does not go on.
 *
 * @param fuelLeft the machine's fuel at this moment
 */
export function turnsOf(sharesThread: boolean, fuelLeft: () => number): Turns {
  const engine = sharesThread ? integration() : undefined;
  return engine === undefined ? whole : new InTurns(engine, fuelLeft);
}

/** Whether a tool that never yields can be stopped on its kernel's own thread. */
export function takesTurns(): boolean {
  return integration() !== undefined;
}

class InTurns implements Turns {
  readonly interrupt: Callable;
  readonly #engine: PromiseIntegration;
  readonly #fuelLeft: () => number;
  /** Fuel at which the present turn ends. */
  #turnEnd = 0;
  #stopped = false;

  constructor(engine: PromiseIntegration, fuelLeft: () => number) {
    this.#engine = engine;
    this.#fuelLeft = fuelLeft;
    this.interrupt = new engine.Suspending(() => this.#check());
  }

  enter(callee: Callable): Callable {
    this.begin(this.#fuelLeft());
    return this.#engine.promising(callee);
  }

  begin(fuelLeft: number): void {
    this.#turnEnd = fuelLeft - TURN_FUEL;
  }

  stop(): void {
    this.#stopped = true;
  }

  #check(): 0 | Promise<0> {
    const left = this.#fuelLeft();
    if (left > this.#turnEnd) return 0;
    this.begin(left);
    return new Promise((resolve) => {
      setTimeout(() => {
        if (!this.#stopped) resolve(0);
      }, 0);
    });
  }
}
