import { meter } from "../meter/meter.ts";
import type { MeterOptions } from "../meter/options.ts";
import { checkEngine, type Engine } from "./engine.ts";

/**
 * The metering options of QuickJS. Memory is all that wasm32 can address, because an isolate sets
 * its bound when it runs. `JS_CallInternal` and similar functions have more locals than a tool's
 * module may have.
 */
export const engineMetering: MeterOptions = { memoryBytes: 2 ** 32, locals: 4_000 };

/**
 * Meters and compiles `quickjs-wasi/quickjs.wasm`. Takes some 50 ms: do it once.
 *
 * @throws TypeError when the bytes are not that module
 */
export async function compileEngine(bytes: Uint8Array<ArrayBuffer>): Promise<Engine> {
  const metered = meter(bytes, engineMetering);
  if (!metered.ok) throw new TypeError(`The meter refuses QuickJS: ${metered.message}`);
  return checkEngine({ module: await WebAssembly.compile(metered.bytes), names: metered.report.exports });
}
