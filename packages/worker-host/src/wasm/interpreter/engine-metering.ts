import type { MeterOptions } from "../meter/options.ts";

/**
 * The metering options of QuickJS. Memory is all that wasm32 can address, because an isolate sets
 * its bound when it runs. `JS_CallInternal` and similar functions have more locals than a tool's
 * module may have.
 */
export const engineMetering: MeterOptions = { memoryBytes: 2 ** 32, locals: 4_000 };
