import { meter } from "../meter/meter.ts";
import { type MeterExports, readStamp } from "../meter/stamp.ts";

/** QuickJS, compiled and metered. One serves any number of isolates. */
export interface Engine {
  readonly module: WebAssembly.Module;
  readonly names: MeterExports;
}

/** What wasm32 can address: the bound of one isolate is set when it runs. */
const MEMORY_BYTES = 2 ** 32;
/** `JS_CallInternal` and its like: more locals than a tool's module may have. */
const LOCALS = 4_000;

/**
 * Meters and compiles `quickjs-wasi/quickjs.wasm`. Takes some 50 ms: do it once.
 *
 * @throws TypeError when the bytes are not that module
 */
export async function compileEngine(bytes: Uint8Array<ArrayBuffer>): Promise<Engine> {
  const metered = meter(bytes, { memoryBytes: MEMORY_BYTES, locals: LOCALS });
  if (!metered.ok) throw new TypeError(`QuickJS cannot be metered: ${metered.message}`);
  const module = await WebAssembly.compile(metered.bytes);
  checkExports(module);
  return { module, names: metered.report.exports };
}

/**
 * An engine that was metered when the program was built, for places where nothing may be compiled from bytes.
 *
 * @throws TypeError when the module does not say that it is metered
 */
export function builtEngine(module: WebAssembly.Module): Engine {
  const stamp = readStamp(module);
  if (stamp === undefined) throw new TypeError("This module was not metered by this version of Keyhole.");
  checkExports(module);
  return { module, names: stamp.exports };
}

function checkExports(module: WebAssembly.Module): void {
  const names = new Set(WebAssembly.Module.exports(module).map(({ name }) => name));
  if (!names.has("qjs_set_runtime_and_context")) throw new TypeError("This is not quickjs.wasm of quickjs-wasi.");
}
