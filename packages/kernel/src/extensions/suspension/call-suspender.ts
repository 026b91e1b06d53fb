import type { ResumeOptions, SuspendOptions, Suspension } from "../../call/call-options.ts";
import type { CallResult } from "../../result.ts";
import type { Extension } from "../extension.ts";

/** The extension that suspends calls. `callSuspender` of `@keyhole/kernel/suspend` makes one for one kernel. */
export interface CallSuspender extends Extension {
  suspend(callId: string, options: SuspendOptions): Promise<Suspension>;
  resume(bytes: Uint8Array, options: ResumeOptions): Promise<CallResult>;
}
