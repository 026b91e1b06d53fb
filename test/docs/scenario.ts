import type { CallResult, Kernel, KernelOptions } from "@keyhole/kernel";
import type { Extension } from "@keyhole/kernel/compose";
import type { FakeClock } from "../support/fake-clock.ts";
import type { AnyTool } from "../support/registered.ts";

/** One way to an error code, as its page tells it. */
export interface Scenario {
  /** A function where each kernel needs its own. */
  readonly options?: KernelOptions | (() => KernelOptions);
  /** A kernel with these extensions alone. Default: one with all. */
  readonly composed?: readonly Extension[];
  readonly tools: readonly AnyTool[];
  /** Default: calls the first tool with `{}`. */
  readonly run?: (kernel: Kernel, clock: FakeClock) => Promise<CallResult>;
}
