/** Modules as trees: what the generators make, the encoder writes and the reference interpreter runs. */

export type ValueType = "i32" | "i64" | "v128" | "funcref" | "exnref";

export interface Signature {
  readonly params: readonly ValueType[];
  readonly results: readonly ValueType[];
}

/** Opcode, operands and result of the plain instructions that the generators use. */
export const plain = {
  "i32.eqz": { code: [0x45], takes: ["i32"], gives: "i32" },
  "i32.eq": { code: [0x46], takes: ["i32", "i32"], gives: "i32" },
  "i32.lt_s": { code: [0x48], takes: ["i32", "i32"], gives: "i32" },
  "i32.gt_u": { code: [0x4b], takes: ["i32", "i32"], gives: "i32" },
  "i32.add": { code: [0x6a], takes: ["i32", "i32"], gives: "i32" },
  "i32.sub": { code: [0x6b], takes: ["i32", "i32"], gives: "i32" },
  "i32.mul": { code: [0x6c], takes: ["i32", "i32"], gives: "i32" },
  "i32.div_u": { code: [0x6e], takes: ["i32", "i32"], gives: "i32" },
  "i32.and": { code: [0x71], takes: ["i32", "i32"], gives: "i32" },
  "i32.xor": { code: [0x73], takes: ["i32", "i32"], gives: "i32" },
  "i32.rotl": { code: [0x77], takes: ["i32", "i32"], gives: "i32" },
  "i32.wrap_i64": { code: [0xa7], takes: ["i64"], gives: "i32" },
  "i64.extend_i32_u": { code: [0xad], takes: ["i32"], gives: "i64" },
  "i64.add": { code: [0x7c], takes: ["i64", "i64"], gives: "i64" },
  "i64.xor": { code: [0x85], takes: ["i64", "i64"], gives: "i64" },
  "i64.mul": { code: [0x7e], takes: ["i64", "i64"], gives: "i64" },
  "i32x4.splat": { code: [0xfd, 17], takes: ["i32"], gives: "v128" },
  "i32x4.extract_lane 0": { code: [0xfd, 27, 0], takes: ["v128"], gives: "i32" },
  "ref.is_null": { code: [0xd1], takes: ["funcref"], gives: "i32" },
  "memory.size": { code: [0x3f, 0], takes: [], gives: "i32" },
  "memory.grow": { code: [0x40, 0], takes: ["i32"], gives: "i32" },
  "i32.load": { code: [0x28, 2, 0], takes: ["i32"], gives: "i32" },
} as const satisfies Record<
  string,
  { readonly code: readonly number[]; readonly takes: readonly ValueType[]; readonly gives: ValueType }
>;

export type Plain = keyof typeof plain;

/** A label counts enclosing blocks from 0; the number behind the last block is the function. */
export type Instruction =
  | { readonly op: "plain"; readonly name: Plain }
  | { readonly op: "const"; readonly type: "i32" | "i64"; readonly value: number }
  | { readonly op: "nop" | "drop" | "return" | "unreachable" | "throw_ref" | "i32.store" | "memory.fill" }
  | { readonly op: "ref.null"; readonly type: "funcref" | "exnref" }
  | { readonly op: "ref.func"; readonly function: number }
  | { readonly op: "local.get" | "local.set" | "local.tee" | "global.get" | "global.set"; readonly index: number }
  | {
      readonly op: "block" | "loop";
      readonly type: Signature;
      readonly body: readonly Instruction[];
    }
  | {
      readonly op: "if";
      readonly type: Signature;
      readonly body: readonly Instruction[];
      readonly otherwise: readonly Instruction[];
    }
  | { readonly op: "br" | "br_if" | "br_on_null" | "br_on_non_null"; readonly label: number }
  | { readonly op: "br_table"; readonly labels: readonly number[]; readonly label: number }
  | { readonly op: "call" | "return_call"; readonly function: number }
  | { readonly op: "call_indirect"; readonly signature: Signature }
  | { readonly op: "throw"; readonly tag: number }
  | {
      readonly op: "try_table";
      readonly type: Signature;
      readonly clauses: readonly Clause[];
      readonly body: readonly Instruction[];
    }
  | {
      readonly op: "try";
      readonly type: Signature;
      readonly body: readonly Instruction[];
      /** Without a tag: all. */
      readonly catches: readonly { readonly tag: number | undefined; readonly body: readonly Instruction[] }[];
      readonly delegate?: number;
    }
  | { readonly op: "rethrow"; readonly label: number };

/** `tag` undefined: all. `ref`: the exception itself comes on top of its payload. */
export interface Clause {
  readonly tag: number | undefined;
  readonly ref: boolean;
  readonly label: number;
}

export interface FunctionSource {
  readonly type: Signature;
  readonly locals: readonly ValueType[];
  readonly body: readonly Instruction[];
}

/** Table 0 holds all functions in their order, and `exports` names functions. The memory is exported as `memory`. */
export interface Program {
  readonly functions: readonly FunctionSource[];
  readonly tags: readonly (readonly ValueType[])[];
  /** Each begins as 0. */
  readonly globals: readonly ("i32" | "i64")[];
  readonly memory: { readonly minimum: number; readonly maximum: number };
  readonly exports: Readonly<Record<string, number>>;
}

export const nothing: Signature = { params: [], results: [] };

export function gives(...results: readonly ValueType[]): Signature {
  return { params: [], results };
}

/** Short forms, for programs that are written by hand. */
export const i32 = (value: number): Instruction => ({ op: "const", type: "i32", value });
export const get = (index: number): Instruction => ({ op: "local.get", index });
export const set = (index: number): Instruction => ({ op: "local.set", index });
export const op = (name: Plain): Instruction => ({ op: "plain", name });
export const drop: Instruction = { op: "drop" };
export const call = (index: number): Instruction => ({ op: "call", function: index });
export const block = (type: Signature, ...body: readonly Instruction[]): Instruction => ({ op: "block", type, body });
export const loop = (type: Signature, ...body: readonly Instruction[]): Instruction => ({ op: "loop", type, body });
