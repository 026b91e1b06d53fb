import type { Bytes } from "../bytes.ts";
import {
  type FunctionSource,
  type Instruction,
  plain,
  type Program,
  type Signature,
  type ValueType,
} from "./program.ts";

const typeCodes = { i32: 0x7f, i64: 0x7e, v128: 0x7b, funcref: 0x70, exnref: 0x69 } as const satisfies Record<
  ValueType,
  number
>;

const simple = {
  nop: [0x01],
  drop: [0x1a],
  return: [0x0f],
  unreachable: [0x00],
  throw_ref: [0x0a],
  "i32.store": [0x36, 2, 0],
  "memory.fill": [0xfc, 11, 0],
} as const;
const indexed = { "local.get": 0x20, "local.set": 0x21, "local.tee": 0x22, "global.get": 0x23, "global.set": 0x24 };
const branches = { br: 0x0c, br_if: 0x0d, br_on_null: 0xd5, br_on_non_null: 0xd6 } as const;

function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(Math.floor(value / 0x80))];
}

function signed(value: number): number[] {
  const low = ((value % 128) + 128) % 128;
  const rest = (value - low) / 128;
  if ((rest === 0 && low < 0x40) || (rest === -1 && low >= 0x40)) return [low];
  return [low | 0x80, ...signed(rest)];
}

/** Writes a program as a binary module. */
class Encoder {
  readonly #signatures: Signature[] = [];

  encode({ functions, tags, globals, memory, exports }: Program): Bytes {
    const declared = functions.map(({ type }) => unsigned(this.#typeOf(type)));
    const tagTypes = tags.map((params) => [0, ...unsigned(this.#typeOf({ params, results: [] }))]);
    const bodies = functions.map((each) => this.#body(each));
    const names = Object.entries(exports).map(([name, index]) => [...text(name), 0, ...unsigned(index)]);
    const everyFunction = functions.map((_, index) => unsigned(index));
    const out: number[] = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
    const add = (id: number, entries: readonly (readonly number[])[]): void => {
      if (entries.length === 0) return;
      const size = entries.reduce((sum, each) => sum + each.length, 0) + unsigned(entries.length).length;
      out.push(id, ...unsigned(size), ...unsigned(entries.length));
      for (const each of entries) for (const byte of each) out.push(byte);
    };
    add(
      1,
      this.#signatures.map(({ params, results }) => [0x60, ...vector(params), ...vector(results)]),
    );
    add(3, declared);
    add(4, [[0x70, 1, ...unsigned(functions.length), ...unsigned(functions.length)]]);
    add(5, [[1, ...unsigned(memory.minimum), ...unsigned(memory.maximum)]]);
    add(13, tagTypes);
    add(
      6,
      globals.map((type) => [typeCodes[type], 1, type === "i32" ? 0x41 : 0x42, 0, 0x0b]),
    );
    add(7, [[...text("memory"), 2, 0], ...names]);
    add(9, [[0, 0x41, 0, 0x0b, ...unsigned(functions.length), ...everyFunction.flat()]]);
    add(10, bodies);
    return Uint8Array.from(out);
  }

  #typeOf(signature: Signature): number {
    const same = (other: Signature): boolean =>
      `${signature.params.join()}:${signature.results.join()}` === `${other.params.join()}:${other.results.join()}`;
    const known = this.#signatures.findIndex(same);
    return known >= 0 ? known : this.#signatures.push(signature) - 1;
  }

  #body({ locals, body }: FunctionSource): number[] {
    const code = [...unsigned(locals.length), ...locals.flatMap((type) => [1, typeCodes[type]])];
    this.#sequence(body, code);
    code.push(0x0b);
    return [...unsigned(code.length), ...code];
  }

  #sequence(body: readonly Instruction[], out: number[]): void {
    for (const each of body) this.#instruction(each, out);
  }

  #blockType({ params, results }: Signature): number[] {
    if (params.length > 0 || results.length > 1) return signed(this.#typeOf({ params, results }));
    return [results[0] === undefined ? 0x40 : typeCodes[results[0]]];
  }

  #instruction(each: Instruction, out: number[]): void {
    switch (each.op) {
      case "plain":
        return void out.push(...plain[each.name].code);
      case "const":
        return void out.push(each.type === "i32" ? 0x41 : 0x42, ...signed(each.value));
      case "ref.null":
        return void out.push(0xd0, typeCodes[each.type]);
      case "ref.func":
        return void out.push(0xd2, ...unsigned(each.function));
      case "local.get":
      case "local.set":
      case "local.tee":
      case "global.get":
      case "global.set":
        return void out.push(indexed[each.op], ...unsigned(each.index));
      case "br":
      case "br_if":
      case "br_on_null":
      case "br_on_non_null":
        return void out.push(branches[each.op], ...unsigned(each.label));
      case "br_table":
        return void out.push(
          0x0e,
          ...unsigned(each.labels.length),
          ...each.labels.flatMap(unsigned),
          ...unsigned(each.label),
        );
      case "call":
      case "return_call":
        return void out.push(each.op === "call" ? 0x10 : 0x12, ...unsigned(each.function));
      case "call_indirect":
        return void out.push(0x11, ...unsigned(this.#typeOf(each.signature)), 0);
      case "throw":
        return void out.push(0x08, ...unsigned(each.tag));
      case "rethrow":
        return void out.push(0x09, ...unsigned(each.label));
      case "block":
      case "loop":
      case "if":
      case "try":
      case "try_table":
        return this.#structured(each, out);
      default:
        return void out.push(...simple[each.op]);
    }
  }

  #structured(each: Extract<Instruction, { readonly type: Signature }>, out: number[]): void {
    const opcode = { block: 0x02, loop: 0x03, if: 0x04, try: 0x06, try_table: 0x1f }[each.op];
    out.push(opcode, ...this.#blockType(each.type));
    if (each.op === "try_table") {
      out.push(...unsigned(each.clauses.length));
      for (const { tag, ref, label } of each.clauses) {
        out.push((tag === undefined ? 2 : 0) + (ref ? 1 : 0));
        if (tag !== undefined) out.push(...unsigned(tag));
        out.push(...unsigned(label));
      }
    }
    this.#sequence(each.body, out);
    if (each.op === "if" && (each.otherwise.length > 0 || each.type.results.length > 0)) {
      out.push(0x05);
      this.#sequence(each.otherwise, out);
    }
    if (each.op === "try") {
      for (const { tag, body } of each.catches) {
        if (tag === undefined) out.push(0x19);
        else out.push(0x07, ...unsigned(tag));
        this.#sequence(body, out);
      }
      if (each.delegate !== undefined) return void out.push(0x18, ...unsigned(each.delegate));
    }
    out.push(0x0b);
  }
}

function text(name: string): number[] {
  return [...unsigned(name.length), ...new TextEncoder().encode(name)];
}

function vector(types: readonly ValueType[]): number[] {
  return [...unsigned(types.length), ...types.map((type) => typeCodes[type])];
}

export function encode(program: Program): Bytes {
  return new Encoder().encode(program);
}
