/** Tools of source `wasm` without the interpreter: the host, and what a host needs that brings its own way to an isolate. */
export { readStamp } from "./meter/stamp.ts";
export { MAX_FUEL } from "./meter/tank.ts";
export { waitingHere } from "./machine/suspend.ts";
export { type Executed, executeCall, type WasmTool } from "./tool/execute.ts";
export { faultOf, loadedModule, meteredCode, wasmHost } from "./tool/host.ts";
export { type WasmDefinition, wasmPackage } from "./tool/package.ts";
