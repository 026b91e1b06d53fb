import type { Isolate } from "../isolate/port.ts";
import type { RunOptions } from "../isolate/run.ts";
import type { ResumeOptions, SuspendOptions, Suspension } from "./call-options.ts";
import type { CallResult } from "../result.ts";
import type { Decided } from "./authorize.ts";
import type { Call, Stop } from "./call.ts";
import type { Started } from "./execute.ts";
import type { Path, Steps } from "./steps.ts";

/** Looks after one call that can be put aside while it waits. */
export interface LiveCall {
  /** A question is about to be put. `aside` aborts when nobody is to wait for its answer here any more. */
  asks(state: Decided): {
    /** That of before, where the call was suspended and the question is the same. */
    readonly approvalId: string;
    readonly aside: AbortSignal;
  };
  /** Its tool is about to run. `thaw` opens the isolate that it was suspended in. */
  runs(started: Started): Pick<RunOptions, "gate" | "onLease"> & {
    readonly thaw: ((isWanted: () => boolean) => Promise<Isolate>) | undefined;
  };
  /** Nothing of the call goes on: resolves when its snapshot is made and on record, or when there is none, with what its caller is told. */
  put(): Promise<Stop>;
  /** It has ended, or gone. */
  end(): void;
}

/** What a kernel asks of its suspender. A program makes one with `callSuspender` of `@keyhole/kernel/suspend`, and only passes it on. */
export interface CallSuspender {
  follow(call: Call, path: Path, steps: Steps): LiveCall;
  suspend(callId: string, options: SuspendOptions): Promise<Suspension>;
  resume(bytes: Uint8Array, options: ResumeOptions, steps: Steps): Promise<CallResult>;
}
