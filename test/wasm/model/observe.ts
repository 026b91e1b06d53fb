import { meter } from "../../../packages/worker-host/src/wasm/meter/meter.ts";
import { initialFuel, readFuel } from "../../../packages/worker-host/src/wasm/meter/fuel-global.ts";
import type { Bytes } from "../bytes.ts";
import { limits, LARGE, type Observed, UNIT_BYTES } from "./observed.ts";
import type { Program } from "./program.ts";
import { Reference } from "./reference.ts";
import type { Ended } from "./values.ts";

export function fingerprint(bytes: Uint8Array): number {
  let hash = 0x811c9dc5 ^ bytes.length;
  // Programs only write to the first kilobyte, and fill up to the second.
  for (const byte of bytes.subarray(0, 2_048)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

/** What the rules say of calling `main` with each argument in turn, in one instance. */
export function expected(
  program: Program,
  values: readonly number[],
): (Observed & Pick<Ended, "refusedPages" | "caughtFromCallee"> & { readonly paid: number })[] {
  const reference = new Reference(program, limits);
  return values.map((value) => {
    const { kind, values: results, fuel, units, ...more } = reference.run(program.exports["main"]!, [value]);
    const isExact = kind === "returned" || kind === "uncaught";
    return {
      kind,
      value: kind === "returned" ? Number(results[0]) : undefined,
      fuel: isExact ? fuel : undefined,
      paid: fuel,
      units: isExact ? units : undefined,
      memory: fingerprint(reference.memory.bytes),
      ...more,
    };
  });
}

interface Instance {
  readonly main: (value: number) => number;
  readonly memory: WebAssembly.Memory;
}

/** The module as it was, in this engine: how each call ended, and what it left in memory. */
export function unmetered(bytes: Bytes, values: readonly number[]): Pick<Observed, "kind" | "value" | "memory">[] {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes));
  const { main, memory } = exports as unknown as Instance;
  return values.map((value) => {
    const { kind, result } = attempt(() => main(value));
    return { kind, value: result, memory: fingerprint(new Uint8Array(memory.buffer)) };
  });
}

function attempt(call: () => number): { readonly kind: "returned" | "uncaught" | "trapped"; readonly result?: number } {
  try {
    return { kind: "returned", result: call() };
  } catch (error) {
    return { kind: error instanceof WebAssembly.Exception ? "uncaught" : "trapped" };
  }
}

/** A metered module, compiled: whoever compiles it, this runs it. */
export class MeteredProgram {
  readonly #module: WebAssembly.Module;
  readonly #names: { readonly fuel: string; readonly pages: string };

  constructor(module: WebAssembly.Module, names: { readonly fuel: string; readonly pages: string }) {
    this.#module = module;
    this.#names = names;
  }

  static of(bytes: Bytes): MeteredProgram {
    const metered = meter(bytes);
    if (!metered.ok) throw new Error(`${metered.code}: ${metered.message}`);
    return new MeteredProgram(new WebAssembly.Module(metered.bytes), metered.report.exports);
  }

  /** As {@link expected}, each call with its own fuel and stack. */
  run(
    values: readonly number[],
    bounds: (at: number) => { readonly fuel: number; readonly units: number } = () => ({ ...limits, fuel: LARGE }),
  ): (Observed & { readonly openUnits: number })[] {
    const { exports } = new WebAssembly.Instance(this.#module);
    const { main, memory } = exports as unknown as Instance;
    const fuelGlobal = exports[this.#names.fuel] as WebAssembly.Global<"i64">;
    (exports[this.#names.pages] as WebAssembly.Global<"i32">).value = limits.pages;
    return values.map((value, at) => {
      const { fuel, units } = bounds(at);
      const full = initialFuel(fuel, units * UNIT_BYTES);
      fuelGlobal.value = full;
      const { kind, result } = attempt(() => main(value));
      const { fuel: left, state } = readFuel(fuelGlobal.value);
      return {
        kind: state === "running" ? kind : state,
        value: state === "running" ? result : undefined,
        fuel: fuel - left,
        units: undefined,
        openUnits: Number((fuelGlobal.value & 0x7fffn) - (full & 0x7fffn)),
        memory: fingerprint(new Uint8Array(memory.buffer)),
      };
    });
  }
}
