import { describe, expect, it } from "vitest";
import { encode } from "../wasm/model/encode.ts";
import { expected } from "../wasm/model/expected.ts";
import { MeteredProgram } from "../wasm/model/observe.ts";
import { limits } from "../wasm/model/observed.ts";
import {
  block,
  call,
  drop,
  get,
  gives,
  i32,
  type Instruction,
  loop,
  nothing,
  op,
  type Program,
  type ValueType,
} from "../wasm/model/program.ts";

/** `main` calls itself with one less until its argument is 0, which `body` looks at in its own way. */
function recursion(body: readonly Instruction[], locals: readonly ValueType[] = []): Program {
  return {
    functions: [{ type: { params: ["i32"], results: ["i32"] }, locals, body }],
    tags: [["i32"], []],
    globals: [],
    memory: { minimum: 1, maximum: 1 },
    exports: { main: 0 },
  };
}

const again: readonly Instruction[] = [get(0), i32(1), op("i32.sub"), call(0)];
const tryTable = (
  type: typeof nothing,
  clauses: Extract<Instruction, { op: "try_table" }>["clauses"],
  ...body: readonly Instruction[]
): Instruction => ({ op: "try_table", type, clauses, body });
const throwing = (tag: number): Instruction => ({ op: "throw", tag });

/** Each way to branch to the label of the function, taken at the bottom of a recursion and not taken on the way down. */
const branches: readonly (readonly [string, Program])[] = [
  ["br_if", recursion([i32(7), get(0), op("i32.eqz"), { op: "br_if", label: 0 }, drop, ...again])],
  [
    "br_if from within a block",
    recursion([block(gives("i32"), i32(7), get(0), op("i32.eqz"), { op: "br_if", label: 1 }, drop, ...again)]),
  ],
  [
    "br_if in a function that loops",
    recursion(
      [
        i32(7),
        get(0),
        op("i32.eqz"),
        { op: "br_if", label: 0 },
        drop,
        loop(nothing, get(1), i32(1), op("i32.add"), { op: "local.tee", index: 1 }, i32(3), op("i32.lt_s"), {
          op: "br_if",
          label: 0,
        }),
        ...again,
      ],
      ["i32"],
    ),
  ],
  [
    "br_table",
    recursion([block(gives("i32"), i32(7), get(0), { op: "br_table", labels: [1], label: 0 }), drop, ...again]),
  ],
  [
    "br_on_null",
    recursion([
      i32(7),
      block(gives("funcref"), { op: "ref.null", type: "funcref" }, { op: "ref.func", function: 0 }, get(0), {
        op: "if",
        type: { params: ["funcref", "funcref"], results: ["funcref"] },
        body: [drop, drop, { op: "ref.func", function: 0 }],
        otherwise: [drop],
      }),
      { op: "br_on_null", label: 0 },
      drop,
      drop,
      ...again,
    ]),
  ],
  [
    "try_table to the function",
    recursion([
      tryTable(nothing, [{ tag: 0, ref: false, label: 0 }], get(0), op("i32.eqz"), {
        op: "if",
        type: nothing,
        body: [i32(7), throwing(0)],
        otherwise: [],
      }),
      ...again,
    ]),
  ],
];

describe("a branch to the label of its function, where it is not taken, gives no frame back", () => {
  it.each(branches)("%s", (_, program) => {
    const values = [0, 1, 5, 100, 10_000];
    const metered = MeteredProgram.of(encode(program));
    const rules = expected(program, values);
    expect(rules.map(({ kind }) => kind)).toEqual(["returned", "returned", "returned", "returned", "too-deep"]);
    metered.run(values).forEach((seen, at) => {
      const { kind, value, units, fuel } = rules[at]!;
      expect([seen.kind, seen.value]).toEqual([kind, value]);
      if (kind !== "returned") return;
      expect(seen.fuel).toBe(fuel);
      expect([values[at], seen.openUnits]).toEqual([values[at], 0]);
      // Its deepest stack is enough, and one unit less is not.
      const bounds = (less: number) => () => ({ fuel: limits.fuel, units: units! - less });
      expect(metered.run([values[at]!], bounds(0))[0]!.kind).toBe("returned");
      if (values[at]! > 0) expect(metered.run([values[at]!], bounds(1))[0]!.kind).toBe("too-deep");
    });
  });
});

describe("an exception that was caught leaves no frame open", () => {
  /** Function 1 throws from `value` activations below, 20 times. */
  const thrower = (catching: readonly Instruction[]): Program => ({
    functions: [
      { type: { params: ["i32"], results: ["i32"] }, locals: ["i32"], body: catching },
      {
        type: { params: ["i32"], results: [] },
        locals: [],
        body: [
          get(0),
          op("i32.eqz"),
          { op: "if", type: nothing, body: [throwing(1)], otherwise: [] },
          get(0),
          i32(1),
          op("i32.sub"),
          call(1),
        ],
      },
    ],
    tags: [["i32"], []],
    globals: [],
    memory: { minimum: 1, maximum: 1 },
    exports: { main: 0 },
  });
  const countUp: readonly Instruction[] = [
    get(1),
    i32(1),
    op("i32.add"),
    { op: "local.tee", index: 1 },
    i32(20),
    op("i32.eq"),
    { op: "if", type: nothing, body: [get(1), { op: "return" }], otherwise: [] },
  ];

  it.each<[string, readonly Instruction[]]>([
    [
      "at the head of a loop",
      [loop(nothing, ...countUp, tryTable(nothing, [{ tag: 1, ref: false, label: 0 }], get(0), call(1))), i32(0)],
    ],
    [
      "at the end of a block in a loop",
      [
        loop(
          nothing,
          ...countUp,
          block(nothing, tryTable(nothing, [{ tag: undefined, ref: false, label: 0 }], get(0), call(1))),
          { op: "br", label: 0 },
        ),
        i32(0),
      ],
    ],
  ])("%s", (_, body) => {
    const program = thrower(body);
    const values = [0, 5, 50];
    const rules = expected(program, values);
    expect(rules.map(({ kind }) => kind)).toEqual(["returned", "returned", "returned"]);
    const seen = MeteredProgram.of(encode(program)).run(values);
    expect(seen.map(({ kind, value, fuel, openUnits }) => [kind, value, fuel, openUnits])).toEqual(
      rules.map(({ kind, value, fuel }) => [kind, value, fuel, 0]),
    );
  });
});
