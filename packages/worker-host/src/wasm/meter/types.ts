import type { Reader } from "./reader.ts";
import { malformed, MeterRefusal } from "./refusal.ts";
import type { Writer } from "./writer.ts";

/** What is needed of a function's type. */
export interface FunctionType {
  readonly parameters: number;
  /** 8-byte slots that the parameters take in an estimated frame. */
  readonly parameterSlots: number;
  readonly results: number;
  /** The value types of the results, as the module writes them. */
  readonly resultBytes: Uint8Array;
}

const vector = 0x7b;
const nullableReference = 0x63;
const reference = 0x64;
/** `i32 i64 f32 f64 v128`, `funcref externref exnref`, and the bottom types of the latter. */
const plainTypes: ReadonlySet<number> = new Set([0x7f, 0x7e, 0x7d, 0x7c, vector, 0x70, 0x6f, 0x69, 0x74, 0x73, 0x72]);
/** `any eq i31 struct array none`. */
const gcTypes: ReadonlySet<number> = new Set([0x6e, 0x6d, 0x6c, 0x6b, 0x6a, 0x71]);

const gc = (): MeterRefusal =>
  new MeterRefusal("UNSUPPORTED_GC", "The module uses garbage-collected types.", "Compile it without the GC proposal.");

/** Reads a value type; returns its size in 8-byte slots. */
export function valueType(reader: Reader): number {
  const type = reader.byte();
  if (plainTypes.has(type)) return type === vector ? 2 : 1;
  if (type === nullableReference || type === reference) heapType(reader);
  else if (gcTypes.has(type)) throw gc();
  else throw new MeterRefusal("UNSUPPORTED_FEATURE", `The module uses a type that is unknown here: ${hex(type)}.`);
  return 1;
}

export function heapType(reader: Reader): void {
  const type = reader.s33();
  if (type < 0 && gcTypes.has(type + 0x80)) throw gc();
}

export function blockType(reader: Reader): void {
  const first = reader.peek();
  if (first === 0x40) reader.at++;
  // Value types are negative numbers, indices of function types are not.
  else if (first >= 0x40 && first < 0x80) valueType(reader);
  else reader.s33();
}

export function functionTypes(section: Reader | undefined): FunctionType[] {
  const types: FunctionType[] = [];
  if (section === undefined) return types;
  for (let count = section.u32(); count > 0; count--) {
    const form = section.byte();
    // Recursive groups, subtypes, arrays and structures.
    if (form >= 0x4e && form <= 0x5f) throw gc();
    if (form !== 0x60) throw malformed(`a type of the form ${hex(form)}`);
    const parameters = section.u32();
    let parameterSlots = 0;
    for (let i = 0; i < parameters; i++) parameterSlots += valueType(section);
    const results = section.u32();
    const from = section.at;
    for (let i = 0; i < results; i++) valueType(section);
    types.push({ parameters, parameterSlots, results, resultBytes: section.bytes.subarray(from, section.at) });
  }
  return types;
}

/** Copies limits with the maximum lowered to `bound`, of memory pages or table elements. */
export function lowerLimits(
  reader: Reader,
  writer: Writer,
  bound: number,
  tooLarge: (minimum: number) => MeterRefusal,
): void {
  const flags = reader.byte();
  if (flags & 2) throw new MeterRefusal("UNSUPPORTED_THREADS", "The module uses shared memory.");
  if (flags & 4) throw new MeterRefusal("UNSUPPORTED_MEMORY64", "The module uses 64-bit memory or tables.");
  if (flags > 1) throw new MeterRefusal("UNSUPPORTED_FEATURE", `Limits with the flags ${hex(flags)} are unknown here.`);
  const minimum = reader.u32();
  const maximum = flags & 1 ? reader.u32() : undefined;
  if (minimum > bound) throw tooLarge(minimum);
  writer.byte(1);
  writer.u32(minimum);
  writer.u32(maximum === undefined ? bound : Math.min(maximum, bound));
}

export function hex(value: number): string {
  return `0x${value.toString(16).padStart(2, "0")}`;
}
