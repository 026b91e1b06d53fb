import type { FromSchema, SchemaInput } from "../schema/index.ts";
import type { JsonValue } from "../json/json.ts";

/**
 * Any schema library that speaks Standard JSON Schema (https://standardschema.dev), seen structurally so that the kernel needs no
 * package: valibot (through `toStandardJsonSchema`), zod, arktype.
 */
export interface StandardJsonSchema<Input = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: { readonly input: Input; readonly output: unknown } | undefined;
    /** Its issues refuse an input that the JSON Schema takes. */
    readonly validate?: (value: unknown) => StandardResult | Promise<StandardResult>;
    readonly jsonSchema: {
      readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
      readonly output: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
    };
  };
}

/** https://standardschema.dev */
interface StandardResult {
  readonly issues?: readonly { readonly message: string }[] | undefined;
}

/** Plain JSON Schema, or anything that can say itself as one. */
export type SchemaSource = StandardJsonSchema | { readonly [keyword: string]: unknown };

/** The type of the values that a tool gets, defaults filled in. */
export type Infer<Schema> = Schema extends StandardJsonSchema<infer Input> ? Input : FromSchema<Schema>;

/** The type of what a caller may send: members that have a `default` can be left out. */
export type InferGiven<Schema> = Schema extends StandardJsonSchema<infer Input> ? Input : SchemaInput<Schema>;

export type OutputSource =
  | { readonly kind: "json"; readonly schema?: SchemaSource; readonly mediaType?: string; readonly transfer?: never }
  | { readonly kind: "text" | "stream"; readonly mediaType?: string; readonly transfer?: never }
  | { readonly kind: "binary"; readonly mediaType?: string; readonly transfer?: boolean };

/**
 * The output of a tool of kind `stream`: an async generator, a `ReadableStream` or an iterable,
 * with chunks of any size.
 */
export type ToolStream = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** The result of `execute`. */
export type InferOutput<Output> = Output extends { readonly kind: "text" }
  ? string
  : Output extends { readonly kind: "binary" }
    ? Uint8Array
    : Output extends { readonly kind: "stream" }
      ? ToolStream
      : Output extends { readonly schema: infer Schema }
        ? Infer<Schema>
        : JsonValue;
