import type { JsonObject } from "../json/json.ts";
import { compileWithParts } from "./compile-with-parts.ts";
import { DEFAULT_LIMITS } from "./limits.ts";
import { snapshot } from "./snapshot.ts";
import type { CompileResult, CompileWithParts, Validator } from "./types.ts";

/** `compileWithParts` for schemas and values of others: each is copied, and read once. */
export function withCopies(schema: unknown, options: CompileWithParts): CompileResult {
  const compiled = compileWithParts(schema, options, snapshot);
  if (!compiled.ok) return compiled;
  const { check, validateOwn } = compiled.validator;
  const { valueDepth, valueNodes } = { ...DEFAULT_LIMITS, ...options.limits };
  const validator: Validator = {
    check,
    validate(input) {
      const copied = snapshot(input, valueDepth, valueNodes);
      return copied.ok ? validateOwn(copied.value) : { ok: false, errors: [copied.error] };
    },
    validateOwn,
  };
  return { ...compiled, validator };
}

/**
 * Compiles a schema of our own, for values of others.
 *
 * @throws TypeError when it is refused: a bug in the schema.
 */
export function requireCopying(schema: JsonObject, options: CompileWithParts): Validator {
  const compiled = withCopies(schema, { trusted: true, ...options });
  if (!compiled.ok) throw new TypeError(`${compiled.error.code} at ${compiled.error.schemaPath}`);
  return compiled.validator;
}
