import { type MeterExports, readMeterSection } from "../meter/meter-section.ts";

/** QuickJS, compiled and metered. One serves any number of isolates. */
export interface Engine {
  readonly module: WebAssembly.Module;
  readonly names: MeterExports;
}

/**
 * An engine that was metered when the program was built, for places where nothing may be compiled from bytes.
 *
 * @throws TypeError when the module is not QuickJS, or does not say that it is metered
 * @example
 * import quickJs from "keyhole:quickjs-wasi/quickjs.wasm?metered"; // with the Vite plugin `keyhole()`
 * const engine = builtEngine(quickJs);
 */
export function builtEngine(module: WebAssembly.Module): Engine {
  const meterSection = readMeterSection(module);
  if (meterSection === undefined) throw new TypeError("This version of Keyhole did not meter this module.");
  return checkEngine({ module, names: meterSection.exports });
}

/** @throws TypeError */
export function checkEngine(engine: Engine): Engine {
  const names = new Set(WebAssembly.Module.exports(engine.module).map(({ name }) => name));
  if (!names.has("qjs_set_runtime_and_context")) throw new TypeError("This is not quickjs.wasm of quickjs-wasi.");
  return engine;
}
