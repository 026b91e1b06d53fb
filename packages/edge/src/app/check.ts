import { compileSchema, type FromSchema, type ValidationError } from "@keyhole/kernel/schema";
import { explain } from "@keyhole/kernel/schema/explain";
import { HttpRefusal } from "./problem.ts";

/**
 * Takes what a client sent for what its schema says.
 *
 * @param what it is of the request, such as `body`
 * @throws {HttpRefusal} `INVALID_REQUEST`, in the words that the kernel has for an input: where, what was expected, what came, what to do
 */
export type Check<Value> = (what: string, value: unknown) => Value;

/**
 * A check by a schema of our own, with the validator that checks inputs.
 *
 * @param otherwise the hint for a member at the top that is missing or not known, where none is near
 */
export function checkOf<const Schema extends { readonly [key: string]: unknown }>(
  schema: Schema,
  otherwise?: string,
): Check<FromSchema<Schema>> {
  const compiled = compileSchema(schema, { explain });
  if (!compiled.ok) throw new TypeError(`${compiled.error.code} at ${compiled.error.schemaPath}`);
  const { validator } = compiled;
  return (what, value) => {
    const valid = validator.validateOwn(value);
    if (valid.ok) return valid.value as FromSchema<Schema>;
    throw refusalOf(what, valid.errors[0]!, otherwise);
  };
}

function refusalOf(what: string, error: ValidationError, otherwise: string | undefined): HttpRefusal {
  const { instancePath, expected, received, hint = "" } = error;
  const place = instancePath === "" ? "" : ` at ${JSON.stringify(instancePath)}`;
  const isNear = /^(?:Did you mean|Rename)/.test(hint);
  return new HttpRefusal(
    "INVALID_REQUEST",
    `The ${what}${place}: expected ${expected}, got ${received}.`,
    {},
    instancePath === "" && !isNear ? (otherwise ?? hint) : hint,
  );
}
