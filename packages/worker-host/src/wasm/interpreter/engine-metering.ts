import type { MeterOptions } from "../meter/options.ts";

/**
 * What QuickJS is metered with: all that wasm32 can address, because the bound of an isolate is set when it runs; and the locals of `JS_CallInternal` and its like, which are
 * more than a tool's module may have.
 */
export const engineMetering: MeterOptions = { memoryBytes: 2 ** 32, locals: 4_000 };
