import { Chance } from "./chance.ts";
import {
  type Clause,
  drop,
  type FunctionSource,
  get,
  i32,
  type Instruction,
  nothing,
  op,
  plain,
  type Plain,
  type Program,
  set,
  type Signature,
  type ValueType,
} from "./program.ts";
import { type Code, same, Scope, tags, zero } from "./scope.ts";

const BUDGET = 0;
const TURNS = 1;
const EXCEPTION = 2;
const operators = Object.keys(plain).filter((name) => !name.startsWith("memory.") && name !== "i32.load") as Plain[];
const types: readonly ValueType[] = ["i32", "i64", "v128"];

/** Instructions in a row that fit what is on the operand stack: exceptions of both generations, blocks with parameters, code that is never reached. */
export function throwingProgram(seed: number): Program {
  const chance = new Chance(seed + 1_000_000);
  // One module may use one generation alone.
  const legacy = seed % 4 === 3;
  const signatures: Signature[] = [{ params: ["i32"], results: ["i32"] }];
  for (let count = 1 + chance.below(3); count > 0; count--)
    signatures.push({ params: ["i32"], results: chance.times(chance.below(3), () => chance.pick(types)) });
  return {
    functions: signatures.map((type) => new Body(chance, signatures, type, legacy).source()),
    tags,
    globals: ["i32"],
    memory: { minimum: 1, maximum: 2 },
    exports: { main: 0 },
  };
}

class Body {
  readonly #chance: Chance;
  readonly #signatures: readonly Signature[];
  readonly #type: Signature;
  readonly #legacy: boolean;
  readonly #scope: Scope;
  /** Types on the operand stack of the innermost block. */
  #stack: ValueType[] = [];
  #code: Instruction[] = [];
  #left = 60;
  /** Labels of the arms around this place, counted from the function: what `rethrow` may name. */
  readonly #arms: number[] = [];
  #depth = 0;

  constructor(chance: Chance, signatures: readonly Signature[], type: Signature, legacy: boolean) {
    this.#chance = chance;
    this.#signatures = signatures;
    this.#type = type;
    this.#legacy = legacy;
    this.#scope = new Scope(chance, type.results);
  }

  source(): FunctionSource {
    const { results } = this.#type;
    const out: Code = [...results.flatMap(zero), get(BUDGET), op("i32.eqz"), { op: "br_if", label: 0 }];
    const body = this.#sequence([], results, 3);
    const locals: ValueType[] = this.#legacy ? ["i32"] : ["i32", "exnref"];
    return { type: this.#type, locals, body: [...out, ...results.map(() => drop), ...body] };
  }

  /** A row of instructions from one stack to another. */
  #sequence(from: readonly ValueType[], to: readonly ValueType[], depth: number): Code {
    const [stack, code] = [this.#stack, this.#code];
    this.#stack = [...from];
    this.#code = [];
    for (let count = 2 + this.#chance.below(6); count > 0 && this.#left-- > 0; count--) this.#step(depth);
    this.#settle(to);
    const written = this.#code;
    this.#stack = stack;
    this.#code = code;
    return written;
  }

  #emit(...code: Code): void {
    this.#code.push(...code);
  }

  /** Puts a value of each type on top, unless they are there. */
  #need(wanted: readonly ValueType[]): void {
    if (wanted.length <= this.#stack.length && same(this.#stack.slice(this.#stack.length - wanted.length), wanted))
      return;
    for (const type of wanted) this.#push(type);
  }

  #push(type: ValueType): void {
    if (type === "i32" && !this.#chance.oneIn(3))
      this.#emit(this.#chance.oneIn(2) ? get(BUDGET) : i32(this.#chance.below(7)));
    else if (type === "exnref" && this.#chance.oneIn(2)) this.#emit(get(EXCEPTION));
    else this.#emit(...zero(type));
    this.#stack.push(type);
  }

  #take(count: number): void {
    this.#stack.length -= count;
  }

  /** The stack becomes exactly this. */
  #settle(to: readonly ValueType[]): void {
    if (same(this.#stack, to)) return;
    for (const type of this.#stack.toReversed()) {
      if (type === "i32" && this.#chance.oneIn(2)) this.#emit({ op: "global.set", index: 0 });
      else this.#emit(drop);
    }
    this.#stack = [];
    for (const type of to) this.#push(type);
  }

  #step(depth: number): void {
    const chance = this.#chance;
    const action = chance.below(depth > 0 ? 14 : 7);
    if (action < 2) this.#push(chance.pick(types));
    else if (action < 4) this.#operate(chance.pick(operators));
    else if (action === 4) this.#store();
    else if (action === 5) this.#branchIf();
    else if (action === 6) this.#call(depth);
    else if (action === 7) this.#block(depth);
    else if (action === 8) this.#loop(depth);
    else if (action < 12 && this.#legacy) this.#try(depth);
    else if (action < 12) this.#tryTable(depth);
    else this.#perhaps(() => this.#leave());
  }

  #operate(name: Plain): void {
    const { takes, gives } = plain[name];
    if (name === "i32.div_u" && !this.#chance.oneIn(4)) return;
    this.#need(takes);
    this.#take(takes.length);
    this.#emit(op(name));
    this.#stack.push(gives);
  }

  #store(): void {
    this.#need(["i32"]);
    this.#emit(i32(0x3fc), op("i32.and"), { op: "global.get", index: 0 }, { op: "i32.store" });
    this.#take(1);
  }

  #branchIf(): void {
    const label = this.#scope.label()!;
    this.#need(this.#scope.carried(label));
    this.#emit(
      { op: "global.get", index: 0 },
      i32(this.#chance.below(3)),
      op(this.#chance.pick(["i32.eq", "i32.and", "i32.lt_s"])),
    );
    this.#emit({ op: "br_if", label });
  }

  #call(depth: number): void {
    const callee = this.#chance.below(this.#signatures.length);
    if (depth === 0 && callee === 0) return;
    this.#emit(get(BUDGET), i32(1), op("i32.sub"), { op: "call", function: callee });
    this.#stack.push(...this.#signatures[callee]!.results);
  }

  /** Some of what is on the stack goes in, and something comes out. */
  #signature(): Signature {
    const params = this.#stack.splice(this.#stack.length - this.#chance.below(Math.min(3, this.#stack.length + 1)));
    return { params, results: this.#results() };
  }

  #results(): readonly ValueType[] {
    return this.#chance.times(this.#chance.below(3), () => this.#chance.pick(types));
  }

  #nested(label: readonly ValueType[], make: () => Code): Code {
    this.#depth++;
    const made = this.#scope.within(label, make);
    this.#depth--;
    return made;
  }

  #block(depth: number): void {
    const type = this.#signature();
    const body = this.#nested(type.results, () => this.#sequence(type.params, type.results, depth - 1));
    this.#emit({ op: "block", type, body });
    this.#stack.push(...type.results);
  }

  /** An exception, or a branch, leads to the head as long as there are turns. */
  #loop(depth: number): void {
    const params = this.#chance.pick(tags);
    const results = this.#results();
    this.#need(params);
    this.#take(params.length);
    const limit: Code = [get(TURNS), i32(1), op("i32.add"), { op: "local.tee", index: TURNS }, i32(6), op("i32.gt_u")];
    const body = this.#nested(params, () => {
      const out = this.#scope.if(nothing, () => [...this.#type.results.flatMap(zero), { op: "return" }]);
      return [...limit, out, ...this.#sequence(params, results, depth - 1)];
    });
    this.#emit({ op: "loop", type: { params, results }, body });
    this.#stack.push(...results);
  }

  #perhaps(make: () => void): void {
    this.#need(["i32"]);
    this.#take(1);
    const [stack, code] = [this.#stack, this.#code];
    const branch = this.#scope.if(nothing, () => {
      this.#depth++;
      [this.#stack, this.#code] = [[], []];
      make();
      this.#depth--;
      return this.#code;
    });
    [this.#stack, this.#code] = [stack, code];
    this.#emit(branch);
  }

  /** What stands behind is never reached, and is metered all the same. */
  #leave(): void {
    const chance = this.#chance;
    const [choice, tag] = [chance.below(6), chance.below(tags.length)];
    if (choice === 0) {
      const label = this.#scope.label()!;
      this.#need(this.#scope.carried(label));
      this.#emit({ op: "br", label });
    } else if (choice === 1 && this.#legacy && this.#arms.length > 0) {
      this.#emit({ op: "rethrow", label: this.#depth - chance.pick(this.#arms) });
    } else if (choice <= 2 && !this.#legacy) {
      this.#emit(get(EXCEPTION), { op: "throw_ref" });
    } else {
      this.#need(tags[tag]!);
      this.#emit({ op: "throw", tag });
    }
    this.#stack = [];
    for (let count = chance.below(3); count > 0; count--) {
      this.#operate(chance.pick(operators));
      this.#branchIf();
    }
    this.#settle([]);
  }

  #tryTable(depth: number): void {
    const type = this.#signature();
    const tag = this.#chance.oneIn(4) ? undefined : this.#chance.below(tags.length);
    const payload = tag === undefined ? [] : tags[tag]!;
    const ref = this.#chance.oneIn(2);
    const caught: readonly ValueType[] = ref ? [...payload, "exnref"] : payload;
    const body = (): Code => this.#nested(type.results, () => this.#sequence(type.params, type.results, depth - 1));
    const label = this.#chance.oneIn(3) ? undefined : this.#scope.label((carried) => same(carried, caught));
    if (label !== undefined) {
      this.#emit({ op: "try_table", type, clauses: [{ tag, ref, label }, ...this.#others()], body: body() });
      return void this.#stack.push(...type.results);
    }
    // A block of its own, where the exception lands.
    const inside = this.#nested(caught, (): Code => {
      const attempt: Instruction = {
        op: "try_table",
        type,
        clauses: [{ tag, ref, label: 0 }, ...this.#others()],
        body: body(),
      };
      return [attempt, ...type.results.map(() => drop), ...caught.flatMap(zero)];
    });
    this.#emit({ op: "block", type: { params: type.params, results: caught }, body: inside });
    if (ref) this.#emit(set(EXCEPTION));
    this.#stack.push(...payload);
  }

  /** One more clause, where a label fits. */
  #others(): readonly Clause[] {
    const tag = this.#chance.below(tags.length);
    const label = this.#scope.label((carried) => same(carried, tags[tag]!));
    return label === undefined ? [] : [{ tag, ref: false, label }];
  }

  #try(depth: number): void {
    const results = this.#results();
    const type = { params: [], results };
    const body = this.#nested(results, () => this.#sequence([], results, depth - 1));
    this.#stack.push(...results);
    if (this.#chance.oneIn(5)) return this.#emit({ op: "try", type, body, catches: [], delegate: this.#depth });
    const chosen = this.#chance.oneIn(3)
      ? [undefined]
      : [this.#chance.below(tags.length), ...(this.#chance.oneIn(2) ? [undefined] : [])];
    const catches = chosen.map((tag) => ({
      tag,
      body: this.#nested(results, () => {
        this.#arms.push(this.#depth);
        const arm = this.#sequence(tag === undefined ? [] : tags[tag]!, results, depth - 1);
        this.#arms.pop();
        return arm;
      }),
    }));
    this.#emit({ op: "try", type, body, catches });
  }
}
