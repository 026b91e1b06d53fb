import { describe, expect, it } from "vitest";
import { sized } from "../support/size.ts";
import { encode } from "./model/encode.ts";
import { expected, MeteredProgram } from "./model/observe.ts";
import { limits } from "./model/observed.ts";
import { type Generator, generators, given } from "./model/recorded.ts";

type Rule = ReturnType<typeof expected>[number];

const LARGE = 10 ** 9;

/** How metered modules end in this engine, and how the rules of docs/wasm-tools.md say that they end. */
export function compareWithRules(first: number, count: number): void {
  describe.each(Object.keys(generators) as Generator[])("metered random modules of the generator %s", (name) => {
    it(
      "have the values, the fuel, the memory and the depth of the rules",
      { timeout: sized(240_000, 1_500_000) },
      () => {
        for (let seed = first; seed < first + count; seed++) {
          const program = generators[name](seed);
          const rules = expected(program, given);
          const bytes = encode(program);
          check(seed, rules, MeteredProgram.of(bytes), bytes.length);
        }
      },
    );
  });
}

/**
 * Every call up to the first that does not end by itself, then that one.
 *
 * @param straight more instructions than the program has without a loop or a call
 */
function check(seed: number, rules: readonly Rule[], metered: MeteredProgram, straight: number): void {
  const stopped = rules.findIndex(({ kind }) => kind === "out-of-fuel" || kind === "too-deep");
  const ended = stopped < 0 ? rules : rules.slice(0, stopped);
  const values = given.slice(0, ended.length);
  const seen = metered.run(values);
  expect([seed, seen.map(({ kind, value, memory }) => ({ kind, value, memory }))]).toEqual([
    seed,
    ended.map(({ kind, value, memory }) => ({ kind, value, memory })),
  ]);
  for (const [at, { kind, fuel, paid, units = 0 }] of ended.entries()) {
    // Fuel is taken ahead, and shown at each loop's head: what a trap leaves is at most one straight line away.
    if (kind === "trapped") expect([seed, at, Math.abs(seen[at]!.fuel! - paid) <= straight]).toEqual([seed, at, true]);
    if (fuel === undefined) continue;
    const { openUnits, fuel: used } = seen[at]!;
    expect([seed, at, used]).toEqual([seed, at, fuel]);
    if (kind === "returned") expect([seed, at, openUnits]).toEqual([seed, at, 0]);
    // The calls before it with all that they want, and this one with exactly so much.
    const last = (bounds: { readonly fuel: number; readonly units: number }): string =>
      metered.run(given.slice(0, at + 1), (index) => (index === at ? bounds : { ...limits, fuel: LARGE }))[at]!.kind;
    expect([seed, at, last({ fuel, units })]).toEqual([seed, at, kind]);
    expect([seed, at, last({ fuel: fuel - 1, units })]).toEqual([seed, at, "out-of-fuel"]);
    if (units > 0) expect([seed, at, last({ fuel: LARGE, units: units - 1 })]).toEqual([seed, at, "too-deep"]);
  }
  if (stopped < 0) return;
  const bounds = (at: number): { readonly fuel: number; readonly units: number } =>
    at === stopped && rules[at]!.kind === "out-of-fuel" ? limits : { ...limits, fuel: LARGE };
  expect([seed, metered.run(given.slice(0, stopped + 1), bounds)[stopped]!.kind]).toEqual([seed, rules[stopped]!.kind]);
}
