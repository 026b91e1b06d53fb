import type { Plain } from "./program.ts";

type Pure = Exclude<Plain, "memory.size" | "memory.grow" | "ref.is_null" | "i32.load">;
type Operand = number & bigint;

/** A validated module gives an instruction for `i64` only such values. */
const long = (value: unknown): bigint => value as bigint;

/** Core specification, section 4.3. `undefined`: it traps. */
export const arithmetic = {
  "i32.eqz": ([a]) => (a === 0 ? 1 : 0),
  "i32.eq": ([a, b]) => (a === b ? 1 : 0),
  "i32.lt_s": ([a, b]) => (a! < b! ? 1 : 0),
  "i32.gt_u": ([a, b]) => (a! >>> 0 > b! >>> 0 ? 1 : 0),
  "i32.add": ([a, b]) => (a! + b!) | 0,
  "i32.sub": ([a, b]) => (a! - b!) | 0,
  "i32.mul": ([a, b]) => Math.imul(a!, b!),
  "i32.div_u": ([a, b]) => (b === 0 ? undefined : Math.floor((a! >>> 0) / (b! >>> 0)) | 0),
  "i32.and": ([a, b]) => a! & b!,
  "i32.xor": ([a, b]) => a! ^ b!,
  "i32.rotl": ([a, b]) => (a! << (b! & 31)) | ((a! >>> 1) >>> (31 - (b! & 31))),
  "i32.wrap_i64": ([a]) => Number(BigInt.asIntN(32, long(a))),
  "i64.extend_i32_u": ([a]) => BigInt(a! >>> 0),
  "i64.add": ([a, b]) => BigInt.asIntN(64, long(a) + long(b)),
  "i64.xor": ([a, b]) => BigInt.asIntN(64, long(a) ^ long(b)),
  "i64.mul": ([a, b]) => BigInt.asIntN(64, long(a) * long(b)),
  "i32x4.splat": ([a]) => a,
  "i32x4.extract_lane 0": ([a]) => a,
} as const satisfies Record<Pure, (values: readonly Operand[]) => number | bigint | undefined>;
