import { meter } from "../../../packages/worker-host/src/wasm/meter/meter.ts";
import { initialFuel, readFuel } from "../../../packages/worker-host/src/wasm/meter/fuel-global.ts";
import type { Bytes } from "../bytes.ts";
import { fingerprint } from "./expected.ts";
import { limits, LARGE, type Observed, type Seen, UNIT_BYTES } from "./observed.ts";

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

  static all(modules: readonly Bytes[]): readonly MeteredProgram[] {
    return modules.map((bytes) => MeteredProgram.of(bytes));
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
  ): Seen[] {
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
