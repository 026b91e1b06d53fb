import { type Machine, RunStopped } from "./machine.ts";
import { type ReplayJournal, Unanswered } from "./replay-journal.ts";

/**
 * How a guest waits. `stack`: the engine puts its stack aside (JSPI). `replay`: it is ended, and run again from its beginning with the answers so far.
 * Both give the same output for the same fuel.
 */
export type Waiting = "stack" | "replay";

export type Callable = (...values: unknown[]) => unknown;

/** JavaScript Promise Integration (https://webassembly.github.io/js-promise-integration). */
export interface PromiseIntegration {
  readonly Suspending: new (callee: Callable) => Callable;
  readonly promising: (callee: Callable) => Callable;
}

/** `undefined` where the engine does not have it. */
export function integration(): PromiseIntegration | undefined {
  const { Suspending, promising } = WebAssembly as unknown as Partial<PromiseIntegration>;
  return typeof Suspending === "function" && typeof promising === "function" ? { Suspending, promising } : undefined;
}

export function waitingHere(): Waiting {
  return integration() === undefined ? "replay" : "stack";
}

/** Makes imports of functions that may have to wait, and enters the guest in the way that fits. */
export interface Suspension {
  /** @param work throws {@link Unanswered} after it has asked, and does the same again when it is called again */
  import(work: Callable): Callable;
  enter(callee: Callable): Callable;
}

export function suspension(waiting: Waiting, machine: Machine, journal: ReplayJournal): Suspension {
  const engine = waiting === "stack" ? integration() : undefined;
  if (engine === undefined) return replaying(machine);
  return {
    import: (work) => new engine.Suspending((...values) => inPlace(machine, journal, () => work(...values))),
    enter: (callee) => engine.promising(callee),
  };
}

function replaying(machine: Machine): Suspension {
  return {
    import:
      (work) =>
      (...values) => {
        try {
          return work(...values);
        } catch (error) {
          if (error instanceof Unanswered) return machine.stop({ kind: "unanswered" });
          throw error;
        }
      },
    enter: (callee) => callee,
  };
}

/** The guest's stack stands still meanwhile; only the import is done again. */
function inPlace(machine: Machine, journal: ReplayJournal, work: () => unknown): unknown {
  const { account } = machine;
  journal.forget(); // What was read meanwhile, and did not have to wait.
  const attempt = (): unknown => {
    try {
      const value = work();
      journal.forget();
      return value;
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
      machine.refund(account);
      return journal.answer().then(() => {
        journal.rewind();
        if (machine.ending !== undefined) throw new RunStopped();
        return attempt();
      });
    }
  };
  return attempt();
}
