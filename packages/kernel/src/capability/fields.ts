import type { JsonObject } from "../json/json.ts";
import { foreignPattern } from "./matching/paths.ts";

/** A place in a capability, or in one of its members, that is wrong. */
export interface CapabilityFault {
  /** JSON Pointer. */
  readonly path: string;
  readonly message: string;
  readonly hint?: string;
}

declare const type: unique symbol;

/** One member of a capability: its JSON Schema, and the check that a schema cannot express. */
export interface Field<T> {
  readonly schema: JsonObject;
  /** Called with a value of the schema. */
  readonly check?: (value: unknown) => CapabilityFault | undefined;
  /** Only for the compiler. */
  readonly [type]?: T;
}

/** A member that can be absent. */
export interface OptionalField<T> extends Field<T> {
  readonly isOptional: true;
}

/** One field for each member of a capability, `kind` aside. */
export type FieldsOf<C> = {
  readonly [Name in Exclude<keyof C, "kind">]-?: object extends Pick<C, Name>
    ? OptionalField<NonNullable<C[Name]>>
    : Field<C[Name]>;
};

export function optional<T>(field: Field<T>): OptionalField<T> {
  return { ...field, isOptional: true };
}

/** UTF-16 units of one pattern, of one argument of a command; and the number of arguments. */
export const capabilityLimits: {
  readonly patternLength: number;
  readonly argumentLength: number;
  readonly arguments: number;
} = { patternLength: 1024, argumentLength: 4096, arguments: 100 };

/** JSON Schema of a list of patterns: globs, hosts, prefixes of paths. */
export const patternsSchema: JsonObject = {
  type: "array",
  items: { type: "string", minLength: 1, maxLength: capabilityLimits.patternLength },
  minItems: 1,
  maxItems: 1000,
  uniqueItems: true,
};

const wildcards = "Wildcards are `*` and, in paths of files, `**`; write each alternative out.";

/** The first pattern that is wrong. */
export function patternFault(
  patterns: readonly string[],
  check: (pattern: string) => string | undefined,
): CapabilityFault | undefined {
  for (const [index, pattern] of patterns.entries()) {
    const reason = check(pattern);
    if (reason)
      return {
        path: `/${index}`,
        message: `${JSON.stringify(pattern.slice(0, 100))}: ${reason}.`,
        ...(foreignPattern.test(pattern) && { hint: wildcards }),
      };
  }
  return undefined;
}

/** A list of patterns. `check` returns the fault of one as the end of a sentence. */
export function patterns(check: (pattern: string) => string | undefined): Field<readonly string[]> {
  return { schema: patternsSchema, check: (value) => (areTexts(value) ? patternFault(value, check) : undefined) };
}

/** A list of different values that is not empty. The schema of an item has to say that it is a `T`. */
export function listOf<T>(items: JsonObject, maxItems: number): Field<readonly T[]> {
  return { schema: { type: "array", items, minItems: 1, maxItems, uniqueItems: true } };
}

/** Whether no pattern has a wildcard. */
export function isLiteral(list: readonly string[]): boolean {
  return list.every((each) => !each.includes("*"));
}

/** A limit. Absent means none. */
export const count: OptionalField<number> = {
  isOptional: true,
  schema: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
};

/** Whether a member of a need has its form. */
export type Guard<T> = (value: unknown) => value is T;

/** One guard for each member of a need, `kind` aside. */
export type GuardsOf<N> = { readonly [Name in Exclude<keyof N, "kind">]-?: Guard<N[Name]> };

export function isText(value: unknown): value is string {
  return typeof value === "string";
}

export function areTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText);
}

export function isAmount(value: unknown): value is number {
  return typeof value === "number" && value >= 0;
}

export function isFlag(value: unknown): value is boolean {
  return typeof value === "boolean";
}

export function orAbsent<T>(guard: Guard<T>): Guard<T | undefined> {
  return (value): value is T | undefined => value === undefined || guard(value);
}
