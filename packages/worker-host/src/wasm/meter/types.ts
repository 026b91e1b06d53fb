import type { Reader } from "./reader.ts";
import { malformed, MeterRefusal } from "./refusal.ts";

/** The facts about a value's type that the meter needs. */
export interface ValueType {
  /** 8-byte slots that it takes in an estimated frame. */
  readonly slots: number;
  readonly isException: boolean;
}

/** A frame keeps an exception alive, which can have a payload of 16 vectors: so it counts 32 bytes, and 512 KiB of frames hold 16,384 of them. */
export const EXCEPTION_SLOTS = 4;
const narrow: ValueType = { slots: 1, isException: false };
const wide: ValueType = { slots: 2, isException: false };
const exception: ValueType = { slots: EXCEPTION_SLOTS, isException: true };

/** The facts about a function's type that the meter needs. */
export interface FunctionType {
  readonly parameters: number;
  /** 8-byte slots that the parameters take in an estimated frame. */
  readonly parameterSlots: number;
  /** An exception, if one of the parameters is one. */
  readonly takes: ValueType;
  readonly results: number;
  /** The value types of the results, as the module writes them. */
  readonly resultBytes: Uint8Array;
  /** An exception, if one of the results is one. */
  readonly gives: ValueType;
}

const vector = 0x7b;
const nullableReference = 0x63;
const reference = 0x64;
/** `i32 i64 f32 f64 v128`, `funcref externref exnref`, and the bottom types of the latter. */
const plainTypes: ReadonlySet<number> = new Set([0x7f, 0x7e, 0x7d, 0x7c, vector, 0x70, 0x6f, 0x69, 0x74, 0x73, 0x72]);
/** `exn noexn`. */
const exceptionTypes: ReadonlySet<number> = new Set([0x69, 0x74]);
/** `any eq i31 struct array none`. */
const gcTypes: ReadonlySet<number> = new Set([0x6e, 0x6d, 0x6c, 0x6b, 0x6a, 0x71]);

const gc = (): MeterRefusal =>
  new MeterRefusal("UNSUPPORTED_GC", "The module uses garbage-collected types.", "Compile it without the GC proposal.");

export function valueType(reader: Reader): ValueType {
  const type = reader.byte();
  if (plainTypes.has(type)) return exceptionTypes.has(type) ? exception : type === vector ? wide : narrow;
  if (type === nullableReference || type === reference) return heapType(reader);
  if (gcTypes.has(type)) throw gc();
  throw new MeterRefusal("UNSUPPORTED_FEATURE", `The module uses a type that is unknown here: ${hex(type)}.`);
}

/** @returns the type of a reference to it */
export function heapType(reader: Reader): ValueType {
  const type = reader.s33();
  if (type < 0 && gcTypes.has(type + 0x80)) throw gc();
  return type < 0 && exceptionTypes.has(type + 0x80) ? exception : narrow;
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
    let takes = narrow;
    for (let i = 0; i < parameters; i++) {
      const type = valueType(section);
      parameterSlots += type.slots;
      if (type.isException) takes = type;
    }
    const results = section.u32();
    const from = section.at;
    let gives = narrow;
    for (let i = 0; i < results; i++) {
      const type = valueType(section);
      if (type.isException) gives = type;
    }
    const resultBytes = section.bytes.subarray(from, section.at);
    types.push({ parameters, parameterSlots, takes, results, resultBytes, gives });
  }
  return types;
}

export function hex(value: number): string {
  return `0x${value.toString(16).padStart(2, "0")}`;
}
