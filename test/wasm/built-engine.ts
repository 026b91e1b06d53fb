import { builtEngine, type Engine } from "@keyhole/worker-host/wasm/interpreter";
import quickJs from "keyhole:quickjs-wasi/quickjs.wasm?metered";

/** In a Worker: metered when the tests were built. */
export const builtTestEngine = (): Engine => builtEngine(quickJs);
