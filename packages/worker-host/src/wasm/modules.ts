/** Tools of source `wasm` without the interpreter: the host, and what a host needs that brings its own way to an isolate. */
export { readMeterSection } from "./meter/meter-section.ts";
export { MAX_FUEL } from "./meter/fuel-global.ts";
export { waitingHere } from "./machine/suspend.ts";
export type { WasiCommand } from "./command/command.ts";
export { withCommands } from "../process/tool.ts";
export { filesOf, type WasiCommandsOptions, wasiRunners, withWasiCommands } from "./command/index.ts";
export { type Executed, executeCall } from "./tool/execute.ts";
export type { WasmTool } from "./tool/run.ts";
export { wasmHost } from "./tool/host.ts";
export { faultOf, loadedModule, meteredCode } from "./tool/load.ts";
export { type WasmDefinition, wasmPackage } from "./tool/package.ts";
