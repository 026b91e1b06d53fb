import { meter, type MeterCode, type MeterOptions } from "@keyhole/worker-host/wasm";
import { describe, expect, it } from "vitest";
import type { Bytes } from "../wasm/bytes.ts";
import { encode } from "../wasm/model/encode.ts";
import { MeteredProgram } from "../wasm/model/observe.ts";
import {
  block,
  call,
  drop,
  get,
  gives,
  i32,
  type Instruction,
  nothing,
  op,
  type Program,
} from "../wasm/model/program.ts";

const exnref = 0x69;
const leb = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, ...leb(value >>> 7)]);
const text = (name: string): number[] => [...leb(name.length), ...new TextEncoder().encode(name)];
const section = (id: number, ...body: readonly number[]): number[] => [id, ...leb(body.length), ...body];
const wasm = (...sections: readonly number[][]): Bytes =>
  Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...sections.flat()]);
const imported = (...kindAndType: readonly number[]): number[] =>
  section(2, 1, ...text("a"), ...text("b"), ...kindAndType);
const type = (params: readonly number[], results: readonly number[]): number[] =>
  section(1, 1, 0x60, ...leb(params.length), ...params, ...leb(results.length), ...results);

function codeOf(bytes: Bytes, options?: MeterOptions): MeterCode | undefined {
  // Else the engine refuses it, and not the meter.
  expect(WebAssembly.validate(bytes)).toBe(true);
  const result = meter(bytes, options);
  return result.ok ? undefined : result.code;
}

/** Ways to keep exceptions where no bound counts them: each holds its payload outside of the linear memory. */
const places: readonly (readonly [string, Bytes])[] = [
  ["a table", wasm(section(4, 1, exnref, 1, 0, 100))],
  ["a table that spells its type out", wasm(section(4, 1, 0x63, exnref, 1, 0, 100))],
  ["a table that spells its type out at length", wasm(section(4, 1, 0x63, 0xe9, 0x7f, 1, 0, 100))],
  ["a table of the bottom type", wasm(section(4, 1, 0x74, 1, 0, 100))],
  ["an imported table", wasm(imported(1, exnref, 0, 1))],
  ["a global", wasm(section(6, 1, exnref, 1, 0xd0, exnref, 0x0b))],
  ["an imported global", wasm(imported(3, exnref, 1))],
  ["the payload of another exception", wasm(type([0x7f, exnref], []), section(13, 1, 0, 0))],
  ["the payload, by a type without null", wasm(section(1, 1, 0x60, 1, 0x64, exnref, 0), section(13, 1, 0, 0))],
  ["the payload of an imported exception", wasm(type([exnref], []), imported(4, 0, 0))],
  ["the result of a function", wasm(type([], [exnref]), section(3, 1, 0), section(10, 1, 4, 0, 0xd0, exnref, 0x0b))],
  ["the result of an imported function", wasm(type([], [exnref]), imported(0, 0))],
];

describe("exceptions cannot be hoarded", () => {
  it.each(places)("in %s", (_, bytes) => {
    expect(codeOf(bytes)).toBe("UNSUPPORTED_STORED_EXNREF");
  });

  it("with a large payload: 16 values are the most", () => {
    const tagged = (count: number): Bytes => wasm(type(Array<number>(count).fill(0x7b), []), section(13, 1, 0, 0));
    expect(codeOf(tagged(16))).toBeUndefined();
    expect(codeOf(tagged(17))).toBe("TAG_TOO_LARGE");
    expect(codeOf(tagged(1_000))).toBe("TAG_TOO_LARGE");
    expect(codeOf(wasm(type(Array<number>(17).fill(0x7b), []), imported(4, 0, 0)))).toBe("TAG_TOO_LARGE");
  });

  /** `main` throws, keeps the exception in one of so many places, and calls itself. */
  const keeping = (place: "local" | "operand" | "arm", count: number): Program => {
    const throwing: Instruction = { op: "throw", tag: 0 };
    const catching = block(
      gives("exnref"),
      {
        op: "try_table",
        type: nothing,
        clauses: [{ tag: undefined, ref: true, label: 0 }],
        body: [throwing],
      },
      { op: "unreachable" },
    );
    const again: readonly Instruction[] = [get(0), i32(1), op("i32.sub"), call(0)];
    const guarded = (body: readonly Instruction[]): readonly Instruction[] => [
      get(0),
      { op: "if", type: gives("i32"), body, otherwise: [i32(0)] },
    ];
    const numbers = Array.from({ length: count }, (_, index) => index);
    const arms = (depth: number): readonly Instruction[] =>
      depth === 0
        ? again
        : [{ op: "try", type: gives("i32"), body: [throwing], catches: [{ tag: undefined, body: arms(depth - 1) }] }];
    const bodies = {
      local: [catching, { op: "local.set", index: 1 }, ...again],
      operand: [
        ...numbers.map(() => catching),
        ...again,
        { op: "local.set", index: 0 },
        ...numbers.map(() => drop),
        get(0),
      ],
      arm: arms(count),
    } satisfies Record<typeof place, readonly Instruction[]>;
    return {
      functions: [
        {
          type: { params: ["i32"], results: ["i32"] },
          locals: place === "local" ? numbers.slice(1).map(() => "exnref" as const) : [],
          body: guarded(bodies[place]),
        },
      ],
      tags: [[]],
      globals: [],
      memory: { minimum: 1, maximum: 1 },
      exports: { main: 0 },
    };
  };

  it.each(["local", "operand", "arm"] as const)("in the frames of a recursion: each %s counts", (place) => {
    // 64 bytes, 8 for the parameter, rounded up to 96; and 10 exceptions.
    const units = (activations: number): number => activations * Math.ceil((64 + 8 + 10 * 32) / 32);
    const metered = MeteredProgram.of(encode(keeping(place, 10)));
    const kind = (value: number, given: number): string =>
      metered.run([value], () => ({ fuel: 1_000_000, units: given }))[0]!.kind;
    expect(kind(20, units(21))).toBe("returned");
    expect(kind(20, units(21) - 1)).toBe("too-deep");
  });

  it.each(["local", "operand", "arm"] as const)("in one frame: 1,000 is the most, in %ss too", (place) => {
    // Its parameter is one.
    expect(codeOf(encode(keeping(place, 999)))).toBeUndefined();
    expect(codeOf(encode(keeping(place, 1_000)))).toBe("TOO_MANY_LOCALS");
  });
});

describe("tables cannot hold more than their bound together", () => {
  const tables = (...limits: readonly number[][]): Bytes =>
    wasm(section(4, limits.length, ...limits.flatMap((each) => [0x70, ...each])));

  it("whatever each begins with", () => {
    const options = { tableElements: 100 };
    expect(codeOf(tables([0, 60], [0, 40]), options)).toBeUndefined();
    expect(codeOf(tables([0, 60], [0, 41]), options)).toBe("TABLE_TOO_LARGE");
    const both = wasm(imported(1, 0x70, 0, 60), section(4, 1, 0x70, 0, 41));
    expect(codeOf(both, options)).toBe("TABLE_TOO_LARGE");
  });

  it("whatever each may grow to", () => {
    // table.grow of table 0 and 1 by the argument.
    const grow = (table: number): number[] => [7, 0, 0xd0, 0x70, 0x20, 0, 0xfc, 15, table, 0x0b].with(0, 9);
    const bytes = wasm(
      type([0x7f], [0x7f]),
      section(3, 2, 0, 0),
      section(4, 2, 0x70, 0, 10, 0x70, 1, 10, 90),
      section(7, 2, ...text("first"), 0, 0, ...text("second"), 0, 1),
      section(10, 2, ...grow(0), ...grow(1)),
    );
    const result = meter(bytes, { tableElements: 100 });
    if (!result.ok) throw new Error(result.message);
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(result.bytes));
    const run = (name: string, by: number): unknown => {
      (exports[result.report.exports.fuel] as WebAssembly.Global<"i64">).value = 1_000_000n << 15n;
      return (exports[name] as (by: number) => number)(by);
    };
    // What is left of 100 behind what both begin with is parted.
    expect([run("first", 41), run("first", 40), run("first", 1)]).toEqual([-1, 10, -1]);
    expect([run("second", 41), run("second", 40), run("second", 1)]).toEqual([-1, 10, -1]);
  });

  it("nor segments of elements", () => {
    const segment = (count: number): Bytes =>
      wasm(
        type([], []),
        section(3, 1, 0),
        section(9, 1, 1, 0, ...leb(count), ...Array<number>(count).fill(0)),
        section(10, 1, 2, 0, 0x0b),
      );
    expect(codeOf(segment(1_500), { tableElements: 100 })).toBeUndefined();
    expect(codeOf(segment(1_600), { tableElements: 100 })).toBe("TABLE_TOO_LARGE");
  });
});
