/** The interpreter without the means to meter it, for places where that was done by the build. */
export { builtEngine, type Engine } from "./engine.ts";
export { type InterpreterHost, interpreterHost, type InterpreterOptions, type SuspendableIsolate } from "./host.ts";
export type { ResumeRefusal, ResumeResult, Suspension, SuspensionOptions } from "./suspender.ts";
