import { Chance } from "./chance.ts";
import {
  block,
  drop,
  type FunctionSource,
  get,
  gives,
  i32,
  loop,
  nothing,
  op,
  type Plain,
  type Program,
  set,
  type Signature,
  type ValueType,
} from "./program.ts";
import { type Code, same, Scope, tags, zero } from "./scope.ts";

const resultLists: readonly (readonly ValueType[])[] = [
  ["i32"],
  [],
  ["i64", "i32"],
  ["i32", "i32", "i64"],
  ["i32", "funcref"],
];
const binary = {
  i32: ["i32.add", "i32.sub", "i32.mul", "i32.and", "i32.xor", "i32.rotl", "i32.eq", "i32.lt_s", "i32.gt_u"],
  i64: ["i64.add", "i64.xor", "i64.mul"],
} as const satisfies Record<string, readonly Plain[]>;
const BUDGET = 0;
const FUNCREF = 2;
/** Programs only write below. */
const ADDRESSES = 0x3fc;

/** Nested expressions and statements, full of branches that may not be taken, many of them to the function's own label. */
export function branchingProgram(seed: number): Program {
  const chance = new Chance(seed);
  const signatures: Signature[] = [{ params: ["i32"], results: ["i32"] }];
  for (let count = 1 + chance.below(3); count > 0; count--)
    signatures.push({ params: chance.oneIn(2) ? ["i32"] : ["i32", "i64"], results: chance.pick(resultLists) });
  return {
    functions: signatures.map((type) => new Body(chance, signatures, type).source()),
    tags,
    globals: ["i32", "i64"],
    memory: { minimum: 1, maximum: 8 },
    exports: { main: 0 },
  };
}

class Body {
  readonly #chance: Chance;
  readonly #signatures: readonly Signature[];
  readonly #type: Signature;
  readonly #locals: ValueType[];
  readonly #scope: Scope;
  #left = 40;

  constructor(chance: Chance, signatures: readonly Signature[], type: Signature) {
    this.#chance = chance;
    this.#signatures = signatures;
    this.#type = type;
    // Behind the budget an i64, which may be a parameter; then the reference.
    this.#locals = type.params.length === 1 ? ["i64", "funcref"] : ["funcref"];
    this.#scope = new Scope(chance, type.results);
  }

  source(): FunctionSource {
    const { results } = this.#type;
    // Nothing left to spend: out, by a branch to the function's own label.
    const out: Code = [
      ...results.flatMap(zero),
      get(BUDGET),
      i32(1),
      op("i32.lt_s"),
      { op: "br_if", label: 0 },
      ...results.map(() => drop),
    ];
    const body = [...out, ...this.#statements(3), ...results.flatMap((type) => this.#value(type, 2))];
    return { type: this.#type, locals: this.#locals, body };
  }

  #statements(depth: number): Code {
    return this.#chance.times(1 + this.#chance.below(3), () => this.#statement(depth)).flat();
  }

  #statement(depth: number): Code {
    if (this.#left-- < 0 || depth === 0) return [...this.#i32(1), { op: "global.set", index: 0 }];
    const chance = this.#chance;
    switch (chance.below(14)) {
      case 0:
        return [...this.#value("i64", depth), set(1)];
      case 1:
        return [...this.#value("funcref", depth), set(FUNCREF)];
      case 2:
        return [...this.#address(depth), ...this.#i32(depth), { op: "i32.store" }];
      case 3:
        return [...this.#address(1), ...this.#i32(1), i32(chance.below(40)), { op: "memory.fill" }];
      case 4:
        return this.#loop(depth);
      case 5:
      case 6:
        return this.#callSomething(depth);
      case 7:
        return [
          ...this.#i32(depth),
          this.#scope.if(
            nothing,
            () => this.#statements(depth - 1),
            () => this.#leaving(depth - 1),
          ),
        ];
      case 8:
        return this.#onNull(depth);
      case 9:
        return this.#attempt(depth);
      case 10:
        return [...this.#i32(depth), this.#scope.if(nothing, () => this.#table(depth - 1))];
      default:
        return this.#branchIf(depth);
    }
  }

  #branchIf(depth: number): Code {
    const label = this.#scope.label()!;
    const types = this.#scope.carried(label);
    const values = types.flatMap((type) => this.#value(type, 1));
    return [...values, ...this.#i32(depth), { op: "br_if", label }, ...types.map(() => drop)];
  }

  #onNull(depth: number): Code {
    const reference = this.#value("funcref", depth);
    const last = this.#scope.label((types) => types.at(-1) === "funcref");
    if (last !== undefined && this.#chance.oneIn(2)) {
      const types = this.#scope.carried(last).slice(0, -1);
      const values = types.flatMap((type) => this.#value(type, 1));
      return [...values, ...reference, { op: "br_on_non_null", label: last }, ...types.map(() => drop)];
    }
    const label = this.#scope.label()!;
    const types = this.#scope.carried(label);
    const values = types.flatMap((type) => this.#value(type, 1));
    return [...values, ...reference, { op: "br_on_null", label }, drop, ...types.map(() => drop)];
  }

  #table(depth: number): Code {
    const label = this.#scope.label()!;
    const types = this.#scope.carried(label);
    const labels = this.#chance.times(1 + this.#chance.below(3), () =>
      this.#scope.label((other) => same(other, types))!,
    );
    return [
      ...types.flatMap((type) => this.#value(type, 1)),
      ...this.#i32(depth),
      i32(3),
      op("i32.and"),
      { op: "br_table", labels, label },
    ];
  }

  /** Does not go on behind itself, or does nothing. */
  #leaving(depth: number): Code {
    const chance = this.#chance;
    const { results } = this.#type;
    switch (chance.below(7)) {
      case 0:
        return [...results.flatMap((type) => this.#value(type, depth)), { op: "return" }];
      case 1: {
        const label = this.#scope.label()!;
        return [...this.#scope.carried(label).flatMap((type) => this.#value(type, depth)), { op: "br", label }];
      }
      case 2: {
        const tag = chance.below(tags.length);
        return [...tags[tag]!.flatMap((type) => this.#value(type, 1)), { op: "throw", tag }];
      }
      case 3: {
        const fitting = this.#signatures.flatMap((each, at) => (same(each.results, results) ? [at] : []));
        const callee = chance.pick(fitting);
        return [...this.#arguments(callee, depth), { op: "return_call", function: callee }];
      }
      case 4:
        return chance.oneIn(6) ? [{ op: "unreachable" }] : [];
      default:
        return [];
    }
  }

  #loop(depth: number): Code {
    const counter = this.#type.params.length + this.#locals.push("i32") - 1;
    const turn: Code = [get(counter), i32(1), op("i32.add"), { op: "local.tee", index: counter }];
    const again: Code = [...turn, i32(2 + this.#chance.below(6)), op("i32.lt_s"), { op: "br_if", label: 0 }];
    return [loop(nothing, ...this.#scope.within([], () => [...this.#statements(depth - 1), ...again]))];
  }

  /** Something that may throw, and clauses that lead to the function, or to a block around it. */
  #attempt(depth: number): Code {
    const tag = this.#chance.below(tags.length);
    const types = tags[tag]!;
    const inside = this.#scope.within(types, (): Code => {
      const label = this.#scope.label((other) => same(other, types))!;
      const leaving = (): Code => [
        ...this.#i32(1),
        this.#scope.if(
          nothing,
          () => this.#leaving(1),
          () => [],
        ),
      ];
      const body = this.#scope.within([], () => [...this.#statements(depth - 1), ...leaving()]);
      return [{ op: "try_table", type: nothing, clauses: [{ tag, ref: false, label }], body }, ...types.flatMap(zero)];
    });
    return [block(gives(...types), ...inside), ...types.map(() => drop)];
  }

  #arguments(callee: number, depth: number): Code {
    const [, ...more] = this.#signatures[callee]!.params;
    return [get(BUDGET), i32(1), op("i32.sub"), ...more.flatMap((type) => this.#value(type, depth))];
  }

  #callSomething(depth: number): Code {
    const callee = this.#chance.below(this.#signatures.length);
    const signature = this.#signatures[callee]!;
    const given = this.#arguments(callee, Math.min(depth, 1));
    const calling: Code = this.#chance.oneIn(4)
      ? [i32(this.#chance.oneIn(12) ? 9 : callee), { op: "call_indirect", signature }]
      : [{ op: "call", function: callee }];
    return [...given, ...calling, ...signature.results.map(() => drop)];
  }

  #address(depth: number): Code {
    return [...this.#i32(depth), i32(ADDRESSES), op("i32.and")];
  }

  #value(type: ValueType, depth: number): Code {
    if (type === "i64") return this.#i64(depth);
    if (type === "v128") return [...this.#i32(depth), op("i32x4.splat")];
    return type === "funcref" ? this.#reference(depth) : this.#i32(depth);
  }

  #i32(depth: number): Code {
    const chance = this.#chance;
    if (this.#left-- < 0 || depth === 0) return [chance.oneIn(2) ? i32(chance.below(9) - 2) : get(BUDGET)];
    switch (chance.below(10)) {
      case 0:
        return this.#either("i32", () => this.#i32(depth - 1));
      case 1:
        return [
          block(
            gives("i32"),
            ...this.#scope.within(["i32"], () => [...this.#branchIf(depth - 1), ...this.#i32(depth - 1)]),
          ),
        ];
      case 2:
        return [...this.#i64(depth - 1), op("i32.wrap_i64")];
      case 3:
        return [i32(chance.below(4)), op("memory.grow")];
      case 4:
        return [...this.#address(depth - 1), op("i32.load")];
      case 5:
        return [...this.#reference(depth - 1), op("ref.is_null")];
      case 6:
        return [{ op: "global.get", index: 0 }];
      case 7:
        return [...this.#i32(depth - 1), i32(chance.below(20)), op("i32.div_u")];
      default:
        return [...this.#i32(depth - 1), ...this.#i32(depth - 1), op(chance.pick(binary.i32))];
    }
  }

  #either(type: ValueType, make: () => Code): Code {
    return [...this.#i32(1), this.#scope.if(gives(type), make, make)];
  }

  #i64(depth: number): Code {
    if (depth <= 0) return [{ op: "const", type: "i64", value: this.#chance.below(1_000) - 500 }];
    switch (this.#chance.below(4)) {
      case 0:
        return [get(1)];
      case 1:
        return [...this.#i32(depth - 1), op("i64.extend_i32_u")];
      default:
        return [...this.#i64(depth - 1), ...this.#i64(depth - 1), op(this.#chance.pick(binary.i64))];
    }
  }

  #reference(depth: number): Code {
    switch (this.#chance.below(4)) {
      case 0:
        return [{ op: "ref.null", type: "funcref" }];
      case 1:
        return [{ op: "ref.func", function: this.#chance.below(this.#signatures.length) }];
      case 2:
        return [get(FUNCREF)];
      default:
        if (depth <= 0) return [get(FUNCREF)];
        return this.#either("funcref", () => this.#reference(0));
    }
  }
}
