import type { JsonObject } from "../json/json.ts";
import { compileWithParts } from "./compile-with-parts.ts";
import { countOwn } from "./count-own.ts";
import type { CompileWithParts, OwnValidator } from "./types.ts";

/**
 * Compiles a schema of our own, for JSON data of our own.
 *
 * @throws TypeError when it is refused: a bug in the schema.
 */
export function requireValidator(schema: JsonObject, options: CompileWithParts): OwnValidator {
  const compiled = compileWithParts(schema, { trusted: true, ...options }, countOwn);
  if (!compiled.ok)
    throw new TypeError(`${compiled.error.code} at ${compiled.error.schemaPath}: ${compiled.error.message}`);
  return compiled.validator;
}
