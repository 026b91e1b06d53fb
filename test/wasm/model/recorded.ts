import { branchingProgram } from "./branching.ts";
import type { Observed } from "./observed.ts";
import type { Program } from "./program.ts";
import { throwingProgram } from "./throwing.ts";

/** The arguments that `main` of each module is called with, in one instance. */
export const given = [1, 2, 4] as const;

export const generators = { branching: branchingProgram, throwing: throwingProgram } as const satisfies Record<
  string,
  (seed: number) => Program
>;
export type Generator = keyof typeof generators;

/** Of each generator; `recorded.json.gz` holds what they do, as `record.ts` wrote it. */
export const MODULES = 1_500;

const kinds = [
  "returned",
  "trapped",
  "uncaught",
  "too-deep",
  "out-of-fuel",
] as const satisfies readonly Observed["kind"][];

/** One call: kind, value, fuel, units of the deepest stack, memory. Null: nothing is defined. */
export type RecordedCall = readonly [
  kind: number,
  value: number | null,
  fuel: number | null,
  units: number | null,
  memory: number,
];

/** A module: the fingerprint of its bytes, and its calls. */
export type RecordedModule = readonly [bytes: number, ...calls: readonly RecordedCall[]];

export function toRecord({ kind, value, fuel, units, memory }: Observed): RecordedCall {
  return [kinds.indexOf(kind), value ?? null, fuel ?? null, units ?? null, memory];
}
