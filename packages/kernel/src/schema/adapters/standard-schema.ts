import { knownOptions } from "../../json/known-options.ts";
import { explainEach } from "../explain/index.ts";
import type { FromSchema, SchemaInput } from "../from-schema.ts";
import { compileOptions, type CompileOptions, type ValidationError } from "../types.ts";
import { pointerTokens } from "../../json/pointer.ts";
import { asTheirs, compiled } from "./compiled.ts";

/** Why a value does not conform, as [Standard Schema](https://standardschema.dev) has it. */
export interface StandardIssue {
  readonly message: string;
  readonly path: readonly (string | number)[];
}

/** Standard Schema 1 and Standard JSON Schema 1 of one JSON Schema. */
export interface StandardSchemaOf<Input, Output> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "keyhole";
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    validate(
      value: unknown,
    ): { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly StandardIssue[] };
    readonly jsonSchema: {
      input(options: { readonly target: string }): Record<string, unknown>;
      output(options: { readonly target: string }): Record<string, unknown>;
    };
  };
}

const targets: ReadonlyMap<string, string> = new Map([
  ["draft-2020-12", "2020-12"],
  ["draft-07", "draft-07"],
]);

/**
 * A JSON Schema for libraries that take a Standard Schema: forms, routers, servers of RPC. `validate` returns a copy with defaults filled in.
 *
 * @param schema a literal (`as const`) also gives the types
 * @throws TypeError for a schema that does not compile
 * @example
 * const body = standardSchema({ type: "object", properties: { n: { type: "integer" } }, required: ["n"] } as const);
 */
export function standardSchema<const Schema>(
  schema: Schema,
  options: CompileOptions = {},
): StandardSchemaOf<SchemaInput<Schema>, FromSchema<Schema>> {
  const given = knownOptions(options, compileOptions, "standardSchema");
  const validator = compiled(schema, { explain: explainEach, ...given });
  const { draft = "2020-12" } = given;
  const jsonSchema = ({ target }: { readonly target: string }): Record<string, unknown> => {
    if (targets.get(target) === draft && typeof schema === "object")
      return asTheirs(JSON.parse(JSON.stringify(schema)));
    throw new TypeError(
      `Got the target ${target}; expected draft-${draft.replace("draft-", "")}: the kernel converts no schema.`,
    );
  };
  return {
    "~standard": {
      version: 1,
      vendor: "keyhole",
      validate(value) {
        const result = validator.validate(value);
        if (result.ok) return { value: asTheirs(result.value) };
        return { issues: result.errors.map((error) => issueOf(error, value)) };
      },
      jsonSchema: { input: jsonSchema, output: jsonSchema },
    },
  };
}

/** The place of an item is a number. */
function issueOf({ message, hint, instancePath }: ValidationError, value: unknown): StandardIssue {
  let at: unknown = value;
  const path = pointerTokens(instancePath).map((token) => {
    const isItem = Array.isArray(at);
    at =
      typeof at === "object" && at !== null && Object.hasOwn(at, token)
        ? (at as Record<string, unknown>)[token]
        : undefined;
    return isItem ? Number(token) : token;
  });
  return { message: hint === undefined ? message : `${message} ${hint}`, path };
}
