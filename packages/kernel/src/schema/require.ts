import type { JsonObject } from "../json/json.ts";
import { compileWithParts } from "./compile-with-parts.ts";
import type { CompileWithParts, Validator } from "./types.ts";

/**
 * Compiles a schema of our own.
 *
 * @throws TypeError when it is refused: a bug in the schema.
 */
export function requireValidator(schema: JsonObject, options: CompileWithParts): Validator {
  const compiled = compileWithParts(schema, { trusted: true, ...options });
  if (!compiled.ok)
    throw new TypeError(`${compiled.error.code} at ${compiled.error.schemaPath}: ${compiled.error.message}`);
  return compiled.validator;
}
