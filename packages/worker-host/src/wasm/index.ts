export { compileEngine } from "./interpreter/compile-engine.ts";
export * from "./interpreter/index.ts";
export { meter, type MeterReport, type MeterResult } from "./meter/meter.ts";
export { type ImportName, type MeterOptions, meterDefaults } from "./meter/options.ts";
export { type MeterCode, meterCodes } from "./meter/refusal.ts";
export { type MeterExports, readStamp, type Stamp } from "./meter/stamp.ts";
export { fill, MAX_FUEL, MAX_STACK_BYTES, readTank, type TankState } from "./meter/tank.ts";
export { wasmHost, type WasmHostOptions } from "./tool/host.ts";
export { type WasmDefinition, wasmPackage } from "./tool/package.ts";
