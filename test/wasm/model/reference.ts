import { type Instruction, plain, type Program, type Signature, type ValueType } from "./program.ts";
import { arithmetic } from "./arithmetic.ts";
import { calls, frameUnits } from "./frames.ts";
import { Memory } from "./memory.ts";
import { Delegated, type Ended, type Limits, Stopped, Thrown, type Value } from "./values.ts";

/** What an instruction returns that goes on behind itself. A number from 0 is the label that it branches to. */
const NEXT = -1;
/** A label behind all others. */
const RETURN = 2 ** 30;
/** Instructions that cost nothing (docs/wasm-tools.md). */
const free: ReadonlySet<Instruction["op"]> = new Set(["nop", "drop", "block", "loop", "return", "unreachable"]);

interface Frame {
  readonly locals: Value[];
  readonly stack: Value[];
  readonly units: number;
  /** Of the innermost last: what `rethrow` throws. */
  readonly caught: (Thrown | undefined)[];
}

/**
 * Runs a program from its tree, by the rules of docs/wasm-tools.md: the fuel of each instruction that is executed, the frame of each activation that is open. It shares no
 * code with the meter.
 */
export class Reference {
  readonly #program: Program;
  readonly #limits: Limits;
  readonly #nests: readonly boolean[];
  readonly globals: Value[];
  readonly memory: Memory;
  #fuel = 0;
  #deepest = 0;
  #refusedPages = 0;
  #caughtFromCallee = false;
  #tail: { readonly index: number; readonly values: Value[] } | undefined;

  constructor(program: Program, limits: Limits) {
    this.#program = program;
    this.#limits = limits;
    this.#nests = program.functions.map(({ body }) => calls(body));
    this.globals = program.globals.map((type) => (type === "i32" ? 0 : 0n));
    this.memory = new Memory(program.memory.minimum);
  }

  run(index: number, values: readonly Value[]): Ended {
    this.#fuel = 0;
    this.#deepest = 0;
    this.#refusedPages = 0;
    this.#caughtFromCallee = false;
    const ended = (kind: Ended["kind"], results: readonly Value[] = []): Ended => ({
      kind,
      values: results,
      fuel: this.#fuel,
      units: this.#deepest,
      refusedPages: this.#refusedPages,
      caughtFromCallee: this.#caughtFromCallee,
    });
    try {
      return ended("returned", this.#activate(index, [...values], 0));
    } catch (error) {
      if (error instanceof Thrown) return ended("uncaught");
      if (error instanceof Stopped) return ended(error.kind);
      throw error;
    }
  }

  #activate(first: number, values: Value[], below: number): Value[] {
    for (let index = first, given = values; ;) {
      const source = this.#program.functions[index]!;
      const units = below + (this.#nests[index]! ? frameUnits(source) : 0);
      this.#pay(1);
      this.#deepest = Math.max(this.#deepest, units);
      if (units > this.#limits.units) throw new Stopped("too-deep");
      const frame: Frame = { locals: [...given, ...source.locals.map(zero)], stack: [], units, caught: [] };
      this.#body(source.body, frame);
      const tail = this.#tail;
      if (tail === undefined) return top(frame.stack, source.type.results.length);
      this.#tail = undefined;
      index = tail.index;
      given = tail.values;
    }
  }

  #body(body: readonly Instruction[], frame: Frame): void {
    try {
      this.#sequence(body, frame);
    } catch (error) {
      const thrown: unknown = error instanceof Delegated ? error.thrown : error;
      if (thrown instanceof Thrown) thrown.hasLeft = true;
      throw thrown;
    }
  }

  #pay(fuel: number): void {
    this.#fuel += fuel;
    if (this.#fuel > this.#limits.fuel) throw new Stopped("out-of-fuel");
  }

  #sequence(body: readonly Instruction[], frame: Frame): number {
    for (const each of body) {
      const next = this.#instruction(each, frame);
      if (next !== NEXT) return next;
    }
    return NEXT;
  }

  #instruction(each: Instruction, frame: Frame): number {
    const { stack, locals } = frame;
    if (!free.has(each.op)) this.#pay(1);
    switch (each.op) {
      case "plain":
        stack.push(this.#plain(each.name, top(stack, plain[each.name].takes.length)));
        return NEXT;
      case "const":
        stack.push(each.type === "i32" ? each.value | 0 : BigInt(each.value));
        return NEXT;
      case "ref.null":
        stack.push(null);
        return NEXT;
      case "ref.func":
        stack.push(each.function);
        return NEXT;
      case "local.get":
        stack.push(locals[each.index]!);
        return NEXT;
      case "local.set":
        locals[each.index] = stack.pop()!;
        return NEXT;
      case "local.tee":
        locals[each.index] = stack.at(-1)!;
        return NEXT;
      case "global.get":
        stack.push(this.globals[each.index]!);
        return NEXT;
      case "global.set":
        this.globals[each.index] = stack.pop()!;
        return NEXT;
      case "nop":
        return NEXT;
      case "drop":
        stack.pop();
        return NEXT;
      case "i32.store":
        this.memory.store(top(stack, 2));
        return NEXT;
      case "memory.fill":
        this.#pay(Number(stack.at(-1)) >>> 0);
        this.memory.fill(top(stack, 3));
        return NEXT;
      default:
        return this.#control(each, frame);
    }
  }

  #control(each: Instruction, frame: Frame): number {
    const { stack } = frame;
    switch (each.op) {
      case "br":
        return each.label;
      case "br_if":
        return stack.pop() === 0 ? NEXT : each.label;
      case "br_table":
        return each.labels[Number(stack.pop()) >>> 0] ?? each.label;
      case "br_on_null":
        if (stack.at(-1) !== null) return NEXT;
        stack.pop();
        return each.label;
      case "br_on_non_null":
        if (stack.at(-1) !== null) return each.label;
        stack.pop();
        return NEXT;
      case "return":
        return RETURN;
      case "unreachable":
        throw new Stopped("trapped");
      case "call":
        return this.#call(each.function, frame);
      case "call_indirect": {
        const index = Number(stack.pop()) >>> 0;
        const callee = this.#program.functions[index];
        if (callee === undefined || !equal(callee.type, each.signature)) throw new Stopped("trapped");
        return this.#call(index, frame);
      }
      case "return_call": {
        const { params } = this.#program.functions[each.function]!.type;
        this.#tail = { index: each.function, values: top(stack, params.length) };
        return RETURN;
      }
      case "throw":
        throw new Thrown(each.tag, top(stack, this.#program.tags[each.tag]!.length));
      case "throw_ref": {
        const thrown = stack.pop();
        if (thrown instanceof Thrown) throw thrown;
        throw new Stopped("trapped");
      }
      case "rethrow":
        throw frame.caught.at(-1 - each.label)!;
      default:
        return this.#structured(each as Extract<Instruction, { readonly type: Signature }>, frame);
    }
  }

  #call(index: number, { stack, units }: Frame): number {
    const { params } = this.#program.functions[index]!.type;
    stack.push(...this.#activate(index, top(stack, params.length), units));
    return NEXT;
  }

  #structured(each: Extract<Instruction, { readonly type: Signature }>, frame: Frame): number {
    const { stack } = frame;
    const isTaken = each.op !== "if" || stack.pop() !== 0;
    const height = stack.length - each.type.params.length;
    const arity = (each.op === "loop" ? each.type.params : each.type.results).length;
    for (;;) {
      const next = this.#within(each, isTaken, height, frame);
      if (next === NEXT) return NEXT;
      // A branch outwards, of this block or of one of its clauses: the clauses count without the block.
      if (next > 0) return next - 1;
      stack.splice(height, stack.length - height, ...top(stack, arity));
      if (each.op !== "loop") return NEXT;
    }
  }

  /** One time through a block. @returns the label, counted from within the block */
  #within(
    each: Extract<Instruction, { readonly type: Signature }>,
    isTaken: boolean,
    height: number,
    frame: Frame,
  ): number {
    const { caught } = frame;
    const open = caught.length;
    caught.push(undefined);
    try {
      return this.#sequence(isTaken || each.op !== "if" ? each.body : each.otherwise, frame);
    } catch (error) {
      if (!(error instanceof Thrown) || (each.op !== "try_table" && each.op !== "try")) throw error;
      caught.length = open;
      this.#caughtFromCallee ||= error.hasLeft;
      const { stack } = frame;
      if (each.op === "try_table") {
        const clause = each.clauses.find(({ tag }) => tag === undefined || tag === error.tag);
        if (clause === undefined) throw error;
        stack.length = height;
        if (clause.tag !== undefined) stack.push(...error.values);
        if (clause.ref) stack.push(error);
        return clause.label + 1;
      }
      // The generators delegate to the function alone, past everything in it.
      if (each.delegate !== undefined) throw new Delegated(error);
      const arm = each.catches.find(({ tag }) => tag === undefined || tag === error.tag);
      if (arm === undefined) throw error;
      stack.length = height;
      if (arm.tag !== undefined) stack.push(...error.values);
      caught.push(error);
      return this.#sequence(arm.body, frame);
    } finally {
      caught.length = open;
    }
  }

  #plain(name: keyof typeof plain, values: Value[]): Value {
    if (name === "memory.size") return this.memory.pages;
    if (name === "memory.grow") return this.#grow(Number(values[0]) >>> 0);
    if (name === "ref.is_null") return values[0] === null ? 1 : 0;
    if (name === "i32.load") return this.memory.load(Number(values[0]) >>> 0);
    const result = arithmetic[name](values as never);
    if (result === undefined) throw new Stopped("trapped");
    return result;
  }

  #grow(pages: number): number {
    const before = this.memory.pages;
    if (before + pages > Math.min(this.#limits.pages, this.#program.memory.maximum)) {
      this.#refusedPages += pages;
      return -1;
    }
    this.#pay(pages);
    this.memory.grow(pages);
    return before;
  }
}

/** Takes the topmost values off the stack. */
function top(stack: Value[], count: number): Value[] {
  return stack.splice(stack.length - count, count);
}

function zero(type: ValueType): Value {
  return type === "i64" ? 0n : type === "funcref" || type === "exnref" ? null : 0;
}

function equal(one: Signature, other: Signature): boolean {
  return one.params.join() === other.params.join() && one.results.join() === other.results.join();
}
