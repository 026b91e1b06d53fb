import {
  initialFuel,
  meter,
  type MeterOptions,
  type MeterReport,
  readFuel,
  type FuelState,
} from "@keyhole/worker-host/wasm";
import type { Bytes } from "./bytes.ts";

export interface Metered {
  readonly exports: Readonly<Record<string, (...given: unknown[]) => unknown>>;
  readonly report: MeterReport;
  /** Fills the fuel global, calls, and says what is left of it. */
  run(call: () => unknown, fuel?: number, stackBytes?: number): Run;
}

export interface Run {
  readonly value?: unknown;
  readonly trapped: boolean;
  readonly used: number;
  readonly fuelState: FuelState;
}

/** More than any test uses. */
export const LARGE = 10 ** 12;

export function metered(
  bytes: Bytes,
  options: MeterOptions = {},
): { readonly bytes: Bytes; readonly report: MeterReport } {
  const result = meter(bytes, options);
  if (!result.ok) throw new Error(`${result.code}: ${result.message}`);
  return result;
}

export function instantiate(bytes: Bytes, options: MeterOptions = {}, imports?: WebAssembly.Imports): Metered {
  const { bytes: safe, report } = metered(bytes, options);
  const module = new WebAssembly.Module(safe);
  return start(module, report, imports ?? trapping(module));
}

/** Imports that trap as soon as they are called. */
export function trapping(module: WebAssembly.Module): WebAssembly.Imports {
  const imports: Record<string, Record<string, () => never>> = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    (imports[from] ??= {})[name] = () => {
      throw new Error(`${name} was called`);
    };
  }
  return imports;
}

function start(module: WebAssembly.Module, report: MeterReport, imports: WebAssembly.Imports = {}): Metered {
  const { exports } = new WebAssembly.Instance(module, imports);
  const fuelGlobal = exports[report.exports.fuel] as WebAssembly.Global<"i64">;
  (exports[report.exports.pages] as WebAssembly.Global<"i32">).value = 1_024;
  return {
    exports: exports as Metered["exports"],
    report,
    run(call, fuel = LARGE, stackBytes) {
      fuelGlobal.value = initialFuel(fuel, stackBytes);
      try {
        const value = call();
        return {
          value,
          trapped: false,
          used: fuel - readFuel(fuelGlobal.value).fuel,
          fuelState: readFuel(fuelGlobal.value),
        };
      } catch {
        return { trapped: true, used: fuel - readFuel(fuelGlobal.value).fuel, fuelState: readFuel(fuelGlobal.value) };
      }
    },
  };
}
