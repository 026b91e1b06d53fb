/** Checked by the compiler alone: a line that is wrong does not compile. */
import type { FromSchema, SchemaInput } from "@keyhole/kernel/schema";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function same<A, B>(..._: Equal<A, B> extends true ? [] : [never, A, B]): void {}

declare function of<const S>(schema: S): FromSchema<S>;
declare function before<const S>(schema: S): SchemaInput<S>;
const is =
  <B>() =>
  <A>(_value: A, ..._: Equal<A, B> extends true ? [] : [never]): void => {};

// Primitives, null, several types.
is<string>()(of({ type: "string" }));
is<number>()(of({ type: "integer" }));
is<number>()(of({ type: "number" }));
is<boolean>()(of({ type: "boolean" }));
is<null>()(of({ type: "null" }));
is<string | null>()(of({ type: ["string", "null"] }));
is<string | null>()(of({ type: "string", nullable: true }));
is<unknown>()(of(true));
is<never>()(of(false));
is<unknown>()(of({}));
is<unknown>()(of({ minLength: 3 }));

// Literals.
is<"a">()(of({ const: "a" }));
is<"a" | "b" | 3 | null>()(of({ enum: ["a", "b", 3, null] }));
is<{ x: [1, 2] }>()(of({ const: { x: [1, 2] } }));

// Objects: required, optional, closed, open, nested.
is<{ id: number; name?: string }>()(
  of({
    type: "object",
    properties: { id: { type: "integer" }, name: { type: "string" } },
    required: ["id"],
    additionalProperties: false,
  }),
);
is<{ id?: number }>()(of({ properties: { id: { type: "integer" } } }));
is<{ [key: string]: unknown }>()(of({ type: "object" }));
is<{ [key: string]: number }>()(of({ type: "object", additionalProperties: { type: "number" } }));
is<{ a: { b: string[] } }>()(
  of({
    type: "object",
    properties: {
      a: { type: "object", properties: { b: { type: "array", items: { type: "string" } } }, required: ["b"] },
    },
    required: ["a"],
  }),
);
is<{ a?: string; b: unknown }>()(of({ type: "object", properties: { a: { type: "string" } }, required: ["b"] }));

// Defaults: there after validation, optional before.
is<{ n: number; s?: string }>()(
  of({ type: "object", properties: { n: { type: "integer", default: 1 }, s: { type: "string" } } }),
);
is<{ n?: number }>()(before({ type: "object", properties: { n: { type: "integer", default: 1 } } }));
is<{ n?: number }>()(of({ anyOf: [{ type: "object", properties: { n: { type: "integer", default: 1 } } }] }));

// Arrays and tuples.
is<unknown[]>()(of({ type: "array" }));
is<{ a?: number }[]>()(of({ type: "array", items: { type: "object", properties: { a: { type: "number" } } } }));
is<[string, number]>()(
  of({ type: "array", prefixItems: [{ type: "string" }, { type: "number" }], items: false, minItems: 2 }),
);
is<[string, number?]>()(
  of({ type: "array", prefixItems: [{ type: "string" }, { type: "number" }], items: false, minItems: 1 }),
);
is<[string?, number?, ...boolean[]]>()(
  of({ type: "array", prefixItems: [{ type: "string" }, { type: "number" }], items: { type: "boolean" } }),
);
is<[string, ...unknown[]]>()(of({ type: "array", items: [{ type: "string" }], minItems: 1 }));

// Combinations.
is<string | number>()(of({ anyOf: [{ type: "string" }, { type: "number" }] }));
is<{ kind: "a"; x: number } | { kind: "b" }>()(
  of({
    oneOf: [
      { type: "object", properties: { kind: { const: "a" }, x: { type: "number" } }, required: ["kind", "x"] },
      { type: "object", properties: { kind: { const: "b" } }, required: ["kind"] },
    ],
  }),
);
is<{ a: string; b?: number }>()(
  of({
    allOf: [
      { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
      { type: "object", properties: { b: { type: "number" } } },
    ],
  }),
);
is<{ base: string; a?: number } | { base: string; b?: string }>()(
  of({
    type: "object",
    properties: { base: { type: "string" } },
    required: ["base"],
    anyOf: [{ properties: { a: { type: "number" } } }, { properties: { b: { type: "string" } } }],
  }),
);

// References.
is<{ id: number }>()(
  of({
    $ref: "#/$defs/thing",
    $defs: {
      thing: { type: "object", properties: { id: { $ref: "#/$defs/id" } }, required: ["id"] },
      id: { type: "integer" },
    },
  }),
);
is<number>()(of({ $ref: "#/definitions/n", definitions: { n: { type: "number" } } }));
is<unknown>()(of({ $ref: "https://example.com/other.json" }));
is<{ value: number; children?: unknown[] }>()(
  of({
    $ref: "#/$defs/node",
    $defs: {
      node: {
        type: "object",
        properties: { value: { type: "number" }, children: { type: "array", items: { $ref: "#/$defs/node" } } },
        required: ["value"],
      },
    },
  }),
);

// What is no literal, too deep or too wide is unknown somewhere, never an error.
declare const widened: { type: string };
is<unknown>()(of(widened));
same<FromSchema<{ readonly [keyword: string]: unknown }>, unknown>();
same<FromSchema<object>, unknown>();

type Nested<N extends number, Done extends 0[] = [], S = { type: "string" }> = Done["length"] extends N
  ? S
  : Nested<N, [...Done, 0], { type: "object"; properties: { a: S } }>;
type Deep = FromSchema<Nested<60>>;
const deep: Deep = { a: { a: { a: {} } } };

type Digit = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;
type Wide = FromSchema<{
  type: "object";
  properties: {
    [K in `p${Digit}${Digit}${Digit}`]: { type: "object"; properties: { n: { type: "integer"; default: 0 } } };
  };
}>;
declare const wide: Wide;
is<{ n: number } | undefined>()(wide.p042);

// A value of the wrong type does not compile.
// @ts-expect-error: a string is no integer
const wrong: FromSchema<{ type: "object"; properties: { id: { type: "integer" } } }> = { id: "x" };
export const used = [deep, wrong];
