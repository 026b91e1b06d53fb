import { limits } from "../limits.ts";
import type { Gate } from "../capability/gate.ts";
import type { RegisteredTool } from "../tool/package.ts";
import type { Clock } from "./clock.ts";
import type { IsolatePool, Lease } from "./pool.ts";
import {
  type CallPort,
  type Isolate,
  type IsolateCall,
  IsolateFailure,
  type IsolateOutcome,
  type LogEntry,
  type Progress,
} from "./port.ts";

/** How a run ended: as the isolate said, or as the kernel decided without it. */
export type RunEnd =
  | IsolateOutcome
  | { readonly kind: "timed-out" }
  | { readonly kind: "cancelled" }
  | { readonly kind: "not-opened"; readonly failure: IsolateFailure };

export interface RunOptions {
  readonly pool: IsolatePool;
  /** Whose the isolate's memory is: a session of one caller. Others may choose the same name for theirs. */
  readonly owner: string;
  readonly clock: Clock;
  readonly gate: Gate;
  readonly timeoutMs: number;
  readonly cancel: AbortSignal | undefined;
  readonly onLog: ((entry: LogEntry) => void) | undefined;
  readonly onProgress: ((progress: Progress) => void) | undefined;
}

/**
 * Runs one call under its deadline. At the deadline, or when the grace after a cancellation is over, the caller is answered at once and the isolate
 * terminated behind it. The gate is closed before this resolves: nothing that the isolate still sends has any effect.
 */
export function runInIsolate(tool: RegisteredTool, call: IsolateCall, options: RunOptions): Promise<RunEnd> {
  const { clock, gate, timeoutMs, cancel } = options;
  if (cancel?.aborted) {
    gate.close();
    return Promise.resolve({ kind: "cancelled" });
  }
  return new Promise((resolve, reject) => {
    let told: AbortController | undefined;
    let ended = false;
    let isolate: Isolate | undefined;
    let stopGrace: (() => void) | undefined;

    const leave = (): void => {
      ended = true;
      gate.close();
      stopDeadline();
      stopGrace?.();
      cancel?.removeEventListener("abort", onCancel);
    };
    const end = (how: RunEnd): void => {
      if (ended) return;
      leave();
      resolve(cancel?.aborted && how.kind !== "timed-out" ? { kind: "cancelled" } : how);
    };
    const stop = (how: RunEnd, reason: string): void => {
      end(how);
      isolate?.terminate(reason);
    };
    const onCancel = (): void => {
      told?.abort(cancel?.reason);
      stopGrace = clock.after(limits.graceMs, () => stop({ kind: "cancelled" }, "cancelled"));
    };
    /** Made when the tool looks at it: most never do. */
    const signal = (): AbortSignal => {
      if (told === undefined) {
        told = new AbortController();
        if (cancel?.aborted) told.abort(cancel.reason);
      }
      return told.signal;
    };
    const start = async (): Promise<RunEnd> => {
      const leased = await lease(tool, options);
      if ("kind" in leased) return leased;
      try {
        // The deadline may have passed, or the caller cancelled, while the isolate was being opened: then it is free for the next call, and this one never starts.
        if (ended || cancel?.aborted) return { kind: "lost", reason: "the call ended before it started" };
        isolate = leased.isolate;
        return await isolate.call(
          call,
          portOf(options, signal, () => ended),
        );
      } finally {
        leased.release();
      }
    };

    const stopDeadline = clock.after(timeoutMs, () => stop({ kind: "timed-out" }, "deadline"));
    cancel?.addEventListener("abort", onCancel, { once: true });
    start().then(end, (error: Error) => {
      if (ended) return;
      leave();
      reject(error);
    });
  });
}

async function lease(
  tool: RegisteredTool,
  { pool, owner }: RunOptions,
): Promise<Lease | { kind: "not-opened"; failure: IsolateFailure }> {
  try {
    return await pool.lease(tool, owner);
  } catch (error) {
    if (error instanceof IsolateFailure) return { kind: "not-opened", failure: error };
    throw error;
  }
}

/** After the end of the call nobody listens, whatever a host still passes on. */
function portOf({ gate, onLog, onProgress }: RunOptions, signal: () => AbortSignal, hasEnded: () => boolean): CallPort {
  let messagesLeft: number = limits.messagesPerCall;
  const pass = <T>(listener: ((value: T) => void) | undefined, value: T): void => {
    if (messagesLeft === 0 || hasEnded()) return;
    messagesLeft--;
    try {
      listener?.(value);
    } catch {
      // The listener is the caller's own; its exception must not end the call.
    }
  };
  return {
    get signal() {
      return signal();
    },
    request: (request) => gate.request(request),
    log: (entry) => pass(onLog, entry),
    progress: (progress) => pass(onProgress, progress),
  };
}
