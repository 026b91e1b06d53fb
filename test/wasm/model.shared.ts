import { describe, expect, it } from "vitest";
import { sized } from "../support/size.ts";
import type { Bytes } from "./bytes.ts";
import { encode } from "./model/encode.ts";
import { expected } from "./model/expected.ts";
import { limits, type Seen } from "./model/observed.ts";
import { type Generator, generators, given } from "./model/recorded.ts";

type Rule = ReturnType<typeof expected>[number];

/** A metered module that somebody has compiled: runs `main` with each value, in one instance. */
export interface Runs {
  run(
    values: readonly number[],
    bounds?: (at: number) => { readonly fuel: number; readonly units: number },
  ): readonly Seen[] | Promise<readonly Seen[]>;
}

const LARGE = 10 ** 9;
/** Modules that are compiled together. */
const TOGETHER = 30;

/** How metered modules end in this engine, and how the rules of docs/wasm-tools.md say that they end. */
export function compareWithRules(
  first: number,
  count: number,
  compile: (modules: readonly Bytes[]) => readonly Runs[],
): void {
  describe.each(Object.keys(generators) as Generator[])("metered random modules of the generator %s", (name) => {
    it(
      "have the values, the fuel, the memory and the depth of the rules",
      { timeout: sized(240_000, 1_500_000) },
      async () => {
        for (let from = first; from < first + count; from += TOGETHER) {
          const seeds = Array.from({ length: Math.min(TOGETHER, first + count - from) }, (_, at) => from + at);
          const programs = seeds.map((seed) => generators[name](seed));
          const compiled = compile(programs.map(encode));
          for (const [at, program] of programs.entries()) {
            const { length } = encode(program);
            await check(seeds[at]!, expected(program, given), compiled[at]!, length);
          }
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
async function check(seed: number, rules: readonly Rule[], metered: Runs, straight: number): Promise<void> {
  const stopped = rules.findIndex(({ kind }) => kind === "out-of-fuel" || kind === "too-deep");
  const ended = stopped < 0 ? rules : rules.slice(0, stopped);
  const values = given.slice(0, ended.length);
  const seen = await metered.run(values);
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
    const last = async (bounds: { readonly fuel: number; readonly units: number }): Promise<string> => {
      const each = (index: number) => (index === at ? bounds : { ...limits, fuel: LARGE });
      return (await metered.run(given.slice(0, at + 1), each))[at]!.kind;
    };
    expect([seed, at, await last({ fuel, units })]).toEqual([seed, at, kind]);
    expect([seed, at, await last({ fuel: fuel - 1, units })]).toEqual([seed, at, "out-of-fuel"]);
    if (units > 0) expect([seed, at, await last({ fuel: LARGE, units: units - 1 })]).toEqual([seed, at, "too-deep"]);
  }
  if (stopped < 0) return;
  const bounds = (at: number): { readonly fuel: number; readonly units: number } =>
    at === stopped && rules[at]!.kind === "out-of-fuel" ? limits : { ...limits, fuel: LARGE };
  const all = await metered.run(given.slice(0, stopped + 1), bounds);
  expect([seed, all[stopped]!.kind]).toEqual([seed, rules[stopped]!.kind]);
}
