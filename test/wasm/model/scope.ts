import type { Chance } from "./chance.ts";
import type { Instruction, Signature, ValueType } from "./program.ts";

export type Code = readonly Instruction[];

export const tags: readonly (readonly ValueType[])[] = [[], ["i32"], ["i64", "i32"], ["v128", "i32", "i64"]];

/** The labels that are open where a generator writes. */
export class Scope {
  readonly #chance: Chance;
  /** What a branch to each carries, the innermost last. */
  readonly #labels: (readonly ValueType[])[];

  constructor(chance: Chance, results: readonly ValueType[]) {
    this.#chance = chance;
    this.#labels = [results];
  }

  /** Every second time the outermost that fits: the function's own label, where that does. */
  label(fits: (types: readonly ValueType[]) => boolean = () => true): number | undefined {
    const fitting = this.#labels.flatMap((types, at) => (fits(types) ? [this.#labels.length - 1 - at] : []));
    if (fitting.length === 0) return undefined;
    return this.#chance.oneIn(2) ? fitting[0] : this.#chance.pick(fitting);
  }

  carried(label: number): readonly ValueType[] {
    return this.#labels[this.#labels.length - 1 - label]!;
  }

  within(label: readonly ValueType[], make: () => Code): Code {
    this.#labels.push(label);
    const made = make();
    this.#labels.pop();
    return made;
  }

  if(type: Signature, body: () => Code, otherwise: () => Code = () => []): Instruction {
    return { op: "if", type, body: this.within(type.results, body), otherwise: this.within(type.results, otherwise) };
  }
}

export function same(one: readonly ValueType[], other: readonly ValueType[]): boolean {
  return one.join() === other.join();
}

/** A value of each type. */
export function zero(type: ValueType): Code {
  if (type === "funcref" || type === "exnref") return [{ op: "ref.null", type }];
  const number: Instruction = { op: "const", type: type === "i64" ? "i64" : "i32", value: 0 };
  return type === "v128" ? [number, { op: "plain", name: "i32x4.splat" }] : [number];
}
