import {
  type SqlAnswer,
  type SqlChange,
  type SqlDatabase,
  type SqlFault,
  sqlFault,
  type SqlResult,
  type SqlRows,
  type SqlTask,
} from "./database.ts";

/** The events of an engine: `ready` once, then one answer to each task; at any time its end. */
export interface EngineEvents {
  readonly message: (message: "ready" | SqlAnswer) => void;
  /** `why`: the reason, where the caller needs it. */
  readonly ended: (why?: string) => void;
  /** Another holder waits for the file of the engine: the engine ends when no task is left. */
  readonly wanted: () => void;
}

/** Where a database is open: a process or a worker. Owned by the database, which starts another one after its end. */
export interface Engine {
  send(task: SqlTask): void;
  /** Ends it now, also during a task. */
  end(): void;
  /** Tells the engine whether a caller waits. Otherwise it keeps no process alive. */
  hold?(waits: boolean): void;
}

export interface RemoteOptions {
  /** How long an engine that ends its statements itself may be late. 0 for one that cannot. */
  readonly graceMs: number;
  /** Whether the engine is ended with the call that it works for. */
  readonly endsWithCall: boolean;
  /** How long an engine may take to start. Default 30,000. */
  readonly startTimeoutMs?: number | undefined;
}

/** A start takes about 100 ms; a busy machine takes seconds. */
const START_MS = 30_000;

/** A database whose engine is elsewhere: one statement at a time, in the order in which they came, each within its time. */
export function remoteDatabase(
  start: (events: EngineEvents) => Engine,
  { graceMs, endsWithCall, startTimeoutMs = START_MS }: RemoteOptions,
): SqlDatabase & { close(): void } {
  let engine: RunningEngine | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const perform = async (task: SqlTask, signal: AbortSignal): Promise<SqlAnswer> => {
    if (signal.aborted) return sqlFault("cancelled");
    if (engine?.alive !== true) engine = runEngine(start, graceMs, startTimeoutMs);
    const running = engine;
    const onCancel = (): void => running.end("cancelled");
    if (endsWithCall) signal.addEventListener("abort", onCancel, { once: true });
    try {
      return await running.perform(task);
    } finally {
      signal.removeEventListener("abort", onCancel);
    }
  };

  /** Answers an ended call immediately; the next call waits for the engine. */
  const ask = (task: SqlTask, signal: AbortSignal): Promise<SqlAnswer> => {
    if (signal.aborted) return Promise.resolve(sqlFault("cancelled"));
    const { promise, resolve } = Promise.withResolvers<SqlAnswer>();
    const onCancel = (): void => resolve(sqlFault("cancelled"));
    signal.addEventListener("abort", onCancel, { once: true });
    last = last.then(async () => {
      try {
        resolve(await perform(task, signal));
      } catch {
        // The platform gave no engine, or took no task: the next caller asks for another one.
        engine?.end("broken");
        resolve(sqlFault("broken", "its engine does not start"));
      }
    });
    return promise.finally(() => signal.removeEventListener("abort", onCancel));
  };

  return {
    concurrency: 1,
    query: (statement, limits, signal) =>
      ask({ operation: "query", statement, limits }, signal) as Promise<SqlResult<SqlRows>>,
    run: (statement, limits, signal) =>
      ask({ operation: "run", statement, limits }, signal) as Promise<SqlResult<SqlChange>>,
    close: () => engine?.end("broken"),
  };
}

interface RunningEngine {
  perform(task: SqlTask): Promise<SqlAnswer>;
  /** The running task gets the reason as its answer. */
  end(reason: SqlFault["reason"]): void;
  readonly alive: boolean;
}

function runEngine(start: (events: EngineEvents) => Engine, graceMs: number, startTimeoutMs: number): RunningEngine {
  const ready = Promise.withResolvers<ReturnType<typeof sqlFault> | "ready">();
  const pending = new PendingAnswer();
  let alive = true;
  let started = false;
  let isBusy = false;
  let isWanted = false;

  const end = (reason: SqlFault["reason"], why = ""): void => {
    if (!alive) return;
    alive = false;
    held.engine?.end();
    ready.resolve(sqlFault(reason, why));
    pending.give(sqlFault(reason, why));
  };
  // It can end during its start, before there is a handle.
  const held: { engine?: Engine } = {};
  held.engine = start({
    message(message) {
      if (message !== "ready") return pending.give(message);
      started = true;
      ready.resolve(message);
    },
    ended: (why) => end("broken", why ?? (started ? "" : "its engine ended while it started")),
    wanted() {
      isWanted = true;
      if (!isBusy) end("broken");
    },
  });
  const answerTo = async (task: SqlTask): Promise<SqlAnswer> => {
    if (!alive) return sqlFault("broken");
    const answer = pending.wait();
    try {
      held.engine?.send(task);
    } catch {
      end("broken");
    }
    return answer;
  };
  return {
    async perform(task) {
      isBusy = true;
      held.engine?.hold?.(true);
      const state = await within(startTimeoutMs, ready.promise, () =>
        end("broken", `its engine did not start within ${startTimeoutMs} ms`),
      );
      // From here: to start the engine is not the statement's time.
      const given =
        state === "ready" ? await within(task.limits.timeMs + graceMs, answerTo(task), () => end("too-slow")) : state;
      held.engine?.hold?.(false);
      isBusy = false;
      if (isWanted) end("broken");
      return given;
    },
    end,
    get alive() {
      return alive;
    },
  };
}

/** The answer to the one task that an engine has. */
class PendingAnswer {
  #settle: ((answer: SqlAnswer) => void) | undefined;

  wait(): Promise<SqlAnswer> {
    const { promise, resolve } = Promise.withResolvers<SqlAnswer>();
    this.#settle = resolve;
    return promise;
  }

  give(answer: SqlAnswer): void {
    this.#settle?.(answer);
    this.#settle = undefined;
  }
}

async function within<Value>(ms: number, answer: Promise<Value>, late: () => void): Promise<Value> {
  const timer = setTimeout(late, ms);
  try {
    return await answer;
  } finally {
    clearTimeout(timer);
  }
}
