import { compileEngine, type Engine } from "@keyhole/worker-host/wasm";
import wasm from "quickjs-wasi/quickjs.wasm?url";

let engine: Promise<Engine> | undefined;

/** One for all tests of a file. In Node the address is a path. */
export function testEngine(): Promise<Engine> {
  engine ??= (async () => compileEngine(await read()))();
  return engine;
}

async function read(): Promise<Uint8Array<ArrayBuffer>> {
  if (typeof document === "object") return new Uint8Array(await (await fetch(wasm)).arrayBuffer());
  const { readFileSync } = process.getBuiltinModule("node:fs");
  return new Uint8Array(
    readFileSync(process.getBuiltinModule("node:url").fileURLToPath(import.meta.resolve("quickjs-wasi/quickjs.wasm"))),
  );
}
