import {
  type CompileOptions,
  compileSchema,
  type SchemaError,
  type ValidationError,
  type Validator,
} from "@keyhole/kernel/schema";
import { explain } from "@keyhole/kernel/schema/explain";

export function compiled(schema: unknown, options?: CompileOptions): Validator {
  const result = compileSchema(schema, { explain, ...options });
  if (!result.ok) throw new Error(`${result.error.code} at ${result.error.schemaPath}: ${result.error.message}`);
  return result.validator;
}

export function refused(schema: unknown, options?: CompileOptions): SchemaError {
  const result = compileSchema(schema, options);
  if (result.ok) throw new Error("the schema was accepted");
  return result.error;
}

export function errors(schema: unknown, value: unknown, options?: CompileOptions): readonly ValidationError[] {
  const result = compiled(schema, options).validate(value);
  if (result.ok) throw new Error("the value was accepted");
  return result.errors;
}

/** `levels` objects of one member each, around a leaf. */
export function nest(levels: number, key: string, leaf: unknown): unknown {
  let value = leaf;
  for (let level = 0; level < levels; level++) value = { [key]: value };
  return value;
}

/** The only error of a value. */
export function one(schema: unknown, value: unknown): ValidationError {
  const [error, ...more] = errors(schema, value);
  if (error === undefined || more.length > 0) throw new Error(`${more.length + 1} errors`);
  return error;
}
