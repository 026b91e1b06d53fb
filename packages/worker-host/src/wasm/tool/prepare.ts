import type { RegisteredTool, SetupError } from "@keyhole/kernel";
import { exportsOf } from "../meter/exports.ts";
import { meter, type MeterResult } from "../meter/meter.ts";
import { meterDefaults } from "../meter/options.ts";
import { isSupportedImport } from "./supported-imports.ts";

export type Prepared =
  | {
      readonly ok: true;
      /** The metered module. */
      readonly bytes: Uint8Array<ArrayBuffer>;
      /** A WASI command, and no module with `alloc` and `run`. */
      readonly isCommand: boolean;
    }
  | { readonly ok: false; readonly error: SetupError };

/** The bound of a tool that declares none. */
export const defaultMemoryBytes: number = meterDefaults.memoryBytes;

const prepared = new WeakMap<Uint8Array, Map<number, Prepared>>();

/** Meters a module and looks at what it imports and exports: once for each module and bound, whoever asks. */
export function prepare(code: Uint8Array, memoryBytes: number = defaultMemoryBytes): Prepared {
  const known = prepared.get(code) ?? new Map<number, Prepared>();
  prepared.set(code, known);
  const before = known.get(memoryBytes);
  if (before !== undefined) return before;
  const bytes = code as Uint8Array<ArrayBuffer>;
  const metered = meter(bytes, { memoryBytes, supportsImport: isSupportedImport });
  const result = metered.ok ? checkShape(bytes, metered.bytes) : refused(metered);
  known.set(memoryBytes, result);
  return result;
}

export function prepareTool({ manifest, body }: RegisteredTool): Prepared {
  if (body.source !== "wasm") throw new TypeError("a tool of another source has no module");
  return prepare(body.code, manifest.bounds.memoryBytes);
}

function checkShape(original: Uint8Array, bytes: Uint8Array<ArrayBuffer>): Prepared {
  const names = exportsOf(original);
  const isCommand = names.get("_start") === "function";
  const isPlain = names.get("alloc") === "function" && names.get("run") === "function";
  if (names.get("memory") !== "memory")
    return invalid("The module does not export its memory as `memory`.", "Linkers do so by themselves.");
  if (!isCommand && !isPlain)
    return invalid(
      "The module exports neither `_start`, as a WASI command does, nor `alloc` and `run`.",
      "Compile a program with `main`, or export both functions.",
    );
  return { ok: true, bytes, isCommand };
}

function refused({ code, message, hint }: Extract<MeterResult, { ok: false }>): Prepared {
  return invalid(`${code}: ${message}`, hint);
}

function invalid(message: string, hint: string): Prepared {
  return { ok: false, error: { code: "INVALID_MANIFEST", path: "/code", message, hint } };
}
