import type { Extension, Services } from "../extension.ts";

/** The extension that suspends calls. `callSuspender` of `@keyhole/kernel/suspend` makes one for one kernel. */
export interface CallSuspender extends Extension {
  readonly suspension: NonNullable<Services["suspension"]>;
}
