import { compileSchema } from "@keyhole/kernel/schema";
import type { Workload } from "../../../bench/schema-workload.ts";
import { workloads } from "../../../bench/schema-workloads.ts";

export type Check = (value: unknown) => boolean;
export type Verdict = "valid" | "invalid";
export type Side = "ours" | "theirs";

/** What else the process has seen: other sets of the seven schemas, and objects that engines keep as tables. */
export interface Condition {
  readonly otherSets: number;
  readonly odd: boolean;
}

export const conditions: readonly Condition[] = [0, 1, 20].flatMap((otherSets) =>
  [false, true].map((odd) => ({ otherSets, odd })),
);

const WARM_RUNS = 200;
const ODD_RUNS = 50;
const MANY_MEMBERS = 2_000;

function renamed(value: unknown, suffix: string): unknown {
  if (Array.isArray(value)) return value.map((each) => renamed(each, suffix));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key + suffix, renamed(each, suffix)]));
}

/** The same schema with other names of properties: engines take its objects for others. */
function renamedSchema(schema: unknown, suffix: string): unknown {
  if (Array.isArray(schema)) return schema.map((each) => renamedSchema(each, suffix));
  if (typeof schema !== "object" || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]: [string, unknown]) => {
      if (keyword === "required") return [keyword, (value as string[]).map((name) => name + suffix)];
      if (keyword !== "properties") return [keyword, renamedSchema(value, suffix)];
      const properties = Object.entries(value as object).map(([name, each]) => [
        name + suffix,
        renamedSchema(each, suffix),
      ]);
      return [keyword, Object.fromEntries(properties)];
    }),
  );
}

/** The seven workloads, then the other sets. */
export function entriesOf(otherSets: number): readonly Workload[] {
  const sets = Array.from({ length: otherSets }, (_, set) =>
    workloads.map(({ name, schema, valid, invalid }) => ({
      name,
      schema: renamedSchema(schema, `_${set}`) as Workload["schema"],
      valid: valid.map((value) => renamed(value, `_${set}`)),
      invalid: invalid.map((value) => renamed(value, `_${set}`)),
    })),
  );
  return [...workloads, ...sets.flat()];
}

/** A copy in which one object is kept as a table: a member was deleted, and many were there. */
function oddShaped(value: unknown): unknown {
  const copy = JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
  const object = (Array.isArray(copy) ? copy[0] : copy) as Record<string, unknown>;
  const names = Array.from({ length: MANY_MEMBERS }, (_, at) => `k${at}`);
  for (const name of names) object[name] = 1;
  for (const name of names) delete object[name];
  return copy;
}

function oursOf(schema: object): Check {
  const compiled = compileSchema(schema);
  if (!compiled.ok) throw new Error(compiled.error.message);
  return compiled.validator.check;
}

/** Both sides of one condition, warm. */
export class Contest {
  readonly #entries: readonly Workload[];
  readonly #checks: Readonly<Record<Side, readonly Check[]>>;

  constructor({ otherSets, odd }: Condition, theirsOf: (schema: object, index: number) => Check) {
    this.#entries = entriesOf(otherSets);
    this.#checks = {
      ours: this.#entries.map(({ schema }) => oursOf(schema)),
      theirs: this.#entries.map(({ schema }, index) => theirsOf(schema, index)),
    };
    for (const [index, { valid, invalid }] of this.#entries.entries())
      for (const side of ["ours", "theirs"] as const) {
        const check = this.#checks[side][index] as Check;
        for (let run = 0; run < WARM_RUNS; run++) for (const value of [...valid, ...invalid]) check(value);
      }
    if (!odd) return;
    for (const [index, { valid, invalid }] of this.#entries.slice(0, workloads.length).entries())
      for (let run = 0; run < ODD_RUNS; run++)
        for (const value of [...valid, ...invalid].map(oddShaped))
          for (const side of ["ours", "theirs"] as const) this.#checks[side][index]?.(value);
  }

  run(workload: number, side: Side, verdict: Verdict, times: number): void {
    const check = this.#checks[side][workload] as Check;
    const values = (this.#entries[workload] as Workload)[verdict];
    const wanted = verdict === "valid";
    for (let time = 0; time < times; time++)
      for (let index = 0; index < values.length; index++)
        if (check(values[index]) !== wanted) throw new Error(`expected ${verdict}: ${JSON.stringify(values[index])}`);
  }
}
