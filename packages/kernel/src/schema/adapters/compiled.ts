import { compileSchema } from "../compile-schema.ts";
import { explain } from "../explain/index.ts";
import type { CompileOptions, Validator } from "../types.ts";

/**
 * Compiles for programs that expect an exception, as ajv throws one.
 *
 * @throws TypeError with the reason and its place in the schema
 */
export function compiled(schema: unknown, options: CompileOptions): Validator {
  const result = compileSchema(schema, { explain, ...options });
  if (result.ok) return result.validator;
  const { code, message, schemaPath, hint = "" } = result.error;
  throw new TypeError(`${code} at "${schemaPath}": ${message} ${hint}`.trimEnd());
}

/** For a value whose type belongs to the library that calls an adapter: only that library knows it. */
export function asTheirs(value: unknown): never {
  return value as never;
}
