/**
 * The TypeScript type of the values that `validate` returns for a literal schema (`as const`):
 * members with a `default` are present. A schema without an exact type is `unknown`, never a
 * compile error: a recursive reference, more than 16 levels, or a schema that is not a literal.
 *
 * @example
 * const schema = { type: "object", properties: { id: { type: "integer" } }, required: ["id"] } as const;
 * type Value = FromSchema<typeof schema>; // { id: number }
 */
export type FromSchema<S> = Infer<S, { root: S; mode: "output"; refs: never; depth: [] }>;

/** The same for values before `validate`: members with a `default` may be left out. */
export type SchemaInput<S> = Infer<S, { root: S; mode: "input"; refs: never; depth: [] }>;

interface State {
  root: unknown;
  mode: "input" | "output";
  refs: string;
  depth: readonly unknown[];
}

type Deeper<T extends State> = { root: T["root"]; mode: T["mode"]; refs: T["refs"]; depth: [...T["depth"], 0] };
/** The validator fills in no defaults below branches that may not apply. */
type Branch<T extends State> = { root: T["root"]; mode: "input"; refs: T["refs"]; depth: [...T["depth"], 0] };

type Infer<S, T extends State> = T["depth"]["length"] extends 16
  ? unknown
  : S extends boolean
    ? S extends false
      ? never
      : unknown
    : S extends object
      ? Show<Own<S, T> & Reference<S, T> & All<S, T> & Any<S, "anyOf", T> & Any<S, "oneOf", T>>
      : unknown;

/** Writes an intersection of object types as one. */
type Show<V> = V extends readonly unknown[] ? V : V extends object ? { [K in keyof V]: V[K] } : V;

type Own<S, T extends State> = S extends { readonly const: infer C }
  ? Plain<C>
  : S extends { readonly enum: readonly (infer E)[] }
    ? Nullable<S, Plain<E>>
    : S extends { readonly type: infer N }
      ? Nullable<S, OfType<S, N extends readonly (infer M)[] ? M : N, T>>
      : S extends { readonly properties: object }
        ? ObjectType<S, T>
        : unknown;

/** `nullable` is OpenAPI's; tools carry it often enough. The validator ignores it, so that it only widens the type. */
type Nullable<S, V> = S extends { readonly nullable: true } ? V | null : V;

type OfType<S, N, T extends State> = string extends N
  ? unknown
  : N extends "string"
    ? string
    : N extends "number" | "integer"
      ? number
      : N extends "boolean"
        ? boolean
        : N extends "null"
          ? null
          : N extends "array"
            ? ArrayType<S, T>
            : N extends "object"
              ? ObjectType<S, T>
              : unknown;

type ArrayType<S, T extends State> = S extends { readonly prefixItems: infer P extends readonly unknown[] }
  ? Tuple<P, S extends { readonly items: infer R } ? R : true, S, T>
  : S extends { readonly items: infer P extends readonly unknown[] }
    ? Tuple<P, S extends { readonly additionalItems: infer R } ? R : true, S, T>
    : S extends { readonly items: infer I }
      ? Infer<I, Deeper<T>>[]
      : unknown[];

/** Positions from `minItems` on may be missing. */
type Tuple<
  P extends readonly unknown[],
  R,
  S,
  T extends State,
  Done extends readonly unknown[] = [],
  Open extends boolean = false,
> = P extends readonly [infer Head, ...infer Tail]
  ? S extends { readonly minItems: infer M }
    ? Done["length"] extends M
      ? Partial<Tuple<P, R, {}, T>> extends infer Optional extends readonly unknown[]
        ? [...Done, ...Optional]
        : never
      : Tuple<Tail, R, S, T, [...Done, Infer<Head, Deeper<T>>], Open>
    : Tuple<Tail, R, S, T, [...Done, Infer<Head, Deeper<T>>], true>
  : R extends false
    ? Open extends true
      ? Partial<Done>
      : Done
    : [...(Open extends true ? Partial<Done> : Done), ...Infer<R, Deeper<T>>[]];

type Names<S> = S extends { readonly required: readonly (infer K)[] } ? K : never;
type Defaulted<P, T extends State> = T["mode"] extends "output"
  ? { [K in keyof P]: P[K] extends { readonly default: unknown } ? K : never }[keyof P]
  : never;

type ObjectType<S, T extends State> = S extends { readonly properties: infer P }
  ? Members<P, Names<S> | Defaulted<P, T>, T> & Rest<S, T, unknown> & Unnamed<Exclude<Names<S>, keyof P>>
  : Rest<S, T, { [key: string]: unknown }> & Unnamed<Names<S>>;

type Members<P, Present, T extends State> = {
  -readonly [K in keyof P as K extends Present ? K : never]: Infer<P[K], Deeper<T>>;
} & { -readonly [K in keyof P as K extends Present ? never : K]?: Infer<P[K], Deeper<T>> };

/** Members that `required` names and `properties` does not. */
type Unnamed<K> = [K] extends [never] ? unknown : { [N in K & string]: unknown };

type Rest<S, T extends State, Absent> = S extends { readonly additionalProperties: infer A }
  ? A extends false
    ? unknown
    : S extends { readonly properties: object }
      ? { [key: string]: unknown }
      : { [key: string]: Infer<A, Deeper<T>> }
  : Absent;

type Reference<S, T extends State> = S extends { readonly $ref: infer R extends string }
  ? R extends T["refs"]
    ? unknown
    : R extends `#/${infer Collection}/${infer Name}`
      ? T["root"] extends { readonly [C in Collection]: { readonly [N in Name]: infer Target } }
        ? Infer<Target, { root: T["root"]; mode: T["mode"]; refs: T["refs"] | R; depth: [...T["depth"], 0] }>
        : unknown
      : unknown
  : unknown;

type All<S, T extends State> = S extends { readonly allOf: infer L extends readonly unknown[] } ? Every<L, T> : unknown;
type Every<L extends readonly unknown[], T extends State> = L extends readonly [infer Head, ...infer Tail]
  ? Infer<Head, Deeper<T>> & Every<Tail, T>
  : unknown;

type Any<S, K extends string, T extends State> = S extends { readonly [N in K]: infer L extends readonly unknown[] }
  ? { [I in keyof L]: Infer<L[I], Branch<T>> }[number]
  : unknown;

/** A literal without `readonly`. */
type Plain<V> = V extends object ? { -readonly [K in keyof V]: Plain<V[K]> } : V;
