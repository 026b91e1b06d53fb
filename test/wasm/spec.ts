import { initialFuel, meter, MAX_STACK_BYTES } from "@keyhole/worker-host/wasm";
import { LARGE } from "./metered.ts";
import type { Command, Script } from "./wast.ts";

type Exports = WebAssembly.Exports;
type Argument = NonNullable<NonNullable<Command["action"]>["args"]>[number];

/** What a module was said to do, in one way of running it: a line per command. */
export interface Transcript {
  readonly lines: readonly string[];
  /** Modules that were not metered, by code. */
  readonly refused: readonly string[];
  readonly metered: number;
}

/** Plays a script with modules as they are, or metered. */
export function play(script: Script, isMetered: boolean): Transcript {
  const lines: string[] = [];
  const refused: string[] = [];
  const registry: Record<string, Exports> = { spectest: spectest() };
  const named = new Map<string, Exports>();
  let latest: Exports = {};
  let metered = 0;

  const load = (bytes: Uint8Array<ArrayBuffer>): Exports => {
    if (!isMetered) return new WebAssembly.Instance(new WebAssembly.Module(bytes), registry).exports;
    const result = meter(bytes);
    if (!result.ok) {
      refused.push(result.code);
      throw new Error(result.code);
    }
    metered++;
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(result.bytes), registry);
    const names = result.report.exports;
    (exports[names.pages] as WebAssembly.Global).value = 65_536;
    refill(exports, names.fuel);
    fuelGlobals.set(exports, names.fuel);
    if (names.start !== undefined) (exports[names.start] as () => void)();
    return exports;
  };
  const fuelGlobals = new Map<Exports, string>();
  const refill = (exports: Exports, fuelGlobal: string | undefined): void => {
    if (fuelGlobal !== undefined)
      (exports[fuelGlobal] as WebAssembly.Global<"i64">).value = initialFuel(LARGE, MAX_STACK_BYTES);
  };

  const run = (command: Command): string => {
    const { type, action } = command;
    if (type === "register") {
      registry[command.as!] = command.name === undefined ? latest : named.get(command.name)!;
      return "";
    }
    if (command.filename !== undefined) {
      const bytes = script.modules.get(command.filename);
      if (bytes === undefined) return ""; // Text that does not parse.
      const exports = load(bytes);
      if (type === "module") {
        latest = exports;
        if (command.name !== undefined) named.set(command.name, exports);
      }
      return "loaded";
    }
    if (action === undefined) return "";
    const target = action.module === undefined ? latest : (named.get(action.module) ?? {});
    for (const [exports, fuelGlobal] of fuelGlobals) refill(exports, fuelGlobal);
    if (action.type === "get") return print((target[action.field] as WebAssembly.Global).value);
    return print((target[action.field] as (...given: unknown[]) => unknown)(...(action.args ?? []).map(argument)));
  };

  for (const command of script.commands) {
    try {
      lines.push(`${command.line} ${run(command)}`);
    } catch (error) {
      if (command.type === "module") latest = {};
      // What a trap says differs: ours for depth and fuel is `unreachable`.
      lines.push(`${command.line} ${error instanceof WebAssembly.CompileError ? "invalid" : "failed"}`);
    }
  }
  return { lines, refused, metered };
}

function spectest(): Exports {
  const print = (): void => {};
  const number = (value: WebAssembly.ValueType, initial: number | bigint): WebAssembly.Global =>
    new WebAssembly.Global({ value }, initial);
  return {
    print,
    print_i32: print,
    print_i64: print,
    print_f32: print,
    print_f64: print,
    print_i32_f32: print,
    print_f64_f64: print,
    global_i32: number("i32", 666),
    global_i64: number("i64", 666n),
    global_f32: number("f32", 666.6),
    global_f64: number("f64", 666.6),
    table: new WebAssembly.Table({ initial: 10, maximum: 20, element: "anyfunc" }),
    memory: new WebAssembly.Memory({ initial: 1, maximum: 2 }),
  };
}

function argument({ type, value }: Argument): unknown {
  if (type === "i32") return Number(value) | 0;
  if (type === "i64") return BigInt.asIntN(64, BigInt(String(value)));
  if (type === "f32" || type === "f64") {
    if (String(value).startsWith("nan")) return Number.NaN;
    const view = new DataView(new ArrayBuffer(8));
    view.setBigUint64(0, BigInt(String(value)), true);
    return type === "f32" ? view.getFloat32(0, true) : view.getFloat64(0, true);
  }
  return value === "null" ? null : value;
}

function print(value: unknown): string {
  if (Array.isArray(value)) return value.map(print).join(",");
  if (typeof value === "function") return "function";
  return Object.is(value, -0) ? "-0" : String(value);
}
