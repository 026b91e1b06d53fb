import { meter } from "../meter/meter.ts";
import { checkEngine, type Engine } from "./engine.ts";
import { engineMetering } from "./engine-metering.ts";

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
