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

/** The tokens of a JSON Pointer (RFC 6901), unescaped. */
export function tokensOf(pointer: string): readonly string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}
