import { wasmPackage } from "@keyhole/worker-host/wasm/modules";
import type { RegisteredTool } from "@keyhole/kernel";
import { registered } from "../../support/registered.ts";
import { encode } from "./encode.ts";
import { call, get, i32, type Instruction, op, type Program } from "./program.ts";
import { Reference } from "./reference.ts";
import { limits, LARGE } from "./observed.ts";
import type { Ended } from "./values.ts";

/** Behind everything that the programs write. */
const INPUT = 4_096;
const OUTPUT = 5_120;
const PAGE_BYTES = 65_536;

/** The byte at a place of the output; the three behind it are written again. */
function put(at: number, value: readonly Instruction[]): readonly Instruction[] {
  return [i32(OUTPUT + at), ...value, { op: "i32.store" }];
}

/** The same program with `alloc` and `run`: a digit goes in, eight letters that spell what `main` gives come out. */
export function withToolShape(program: Program): Program {
  const first = program.functions.length;
  const letters = Array.from({ length: 8 }, (_, nibble) =>
    put(1 + nibble, [
      get(2),
      i32((32 - 4 * nibble) % 32),
      op("i32.rotl"),
      i32(15),
      op("i32.and"),
      i32(97),
      op("i32.add"),
    ]),
  );
  const body: readonly Instruction[] = [
    get(0),
    op("i32.load"),
    i32(15),
    op("i32.and"),
    call(program.exports["main"]!),
    { op: "local.set", index: 2 },
    ...put(0, [i32(34)]),
    ...letters.flat(),
    ...put(9, [i32(34)]),
    { op: "const", type: "i64", value: OUTPUT * 2 ** 32 + 10 },
  ];
  return {
    ...program,
    functions: [
      ...program.functions,
      { type: { params: ["i32"], results: ["i32"] }, locals: [], body: [i32(INPUT)] },
      { type: { params: ["i32", "i32"], results: ["i64"] }, locals: ["i32"], body },
    ],
    exports: { alloc: first, run: first + 1 },
  };
}

export function toolOf(program: Program): RegisteredTool {
  const packed = wasmPackage(
    {
      name: "random",
      version: "1.0.0",
      description: "Does something.",
      input: {},
      output: { kind: "json" },
      bounds: { memoryBytes: limits.pages * PAGE_BYTES },
    },
    encode(program),
  );
  if (!packed.ok) throw new Error(packed.error.message);
  return registered(packed.value);
}

export interface ToolCall {
  readonly kind: Ended["kind"];
  readonly text: string | undefined;
  readonly fuel: number;
  readonly memoryBytes: number;
}

/** What the rules say of one call with a digit as input. */
export function expectedOf(program: Program, digit: number): ToolCall {
  const reference = new Reference(program, { fuel: LARGE / 1_000, units: 16_383, pages: limits.pages });
  const alloc = reference.run(program.exports["alloc"]!, [1]);
  reference.memory.bytes[INPUT] = 48 + digit;
  const { kind, fuel } = reference.run(program.exports["run"]!, [INPUT, 1]);
  const { bytes } = reference.memory;
  const text = new TextDecoder().decode(bytes.slice(OUTPUT, OUTPUT + 10));
  return {
    kind,
    text: kind === "returned" ? text : undefined,
    fuel: alloc.fuel + fuel,
    memoryBytes: bytes.length,
  };
}
