/*
 * `@keyhole/kernel/replay`: runs that are written down, and executed again without a network. Nothing that a kernel runs imports it.
 */
export { inspect, type InspectedCall, rerun } from "./inspect.ts";
export { recordingHost } from "./record.ts";
export { type Difference } from "./difference.ts";
export { type Divergence, replay, type Replay, type ReplayOptions } from "./replay.ts";
export { type Run, type RunEntry, type RunFault, runFault } from "./run.ts";
export { readRun, RUN_LINE_BYTES, type RunResult, writeRun } from "./run-file.ts";
