import { compileWithParts } from "./compile-with-parts.ts";
import { requireValidator } from "./require.ts";
import { isSurelyValid } from "./surely-valid.ts";
import type { JsonObject } from "../json/json.ts";
import type { CompileWithParts, SchemaError, Validator } from "./types.ts";

/**
 * `compileWithParts`, at the first value where the schema is surely valid. It refuses the same schemas, and at once.
 *
 * @param schema JSON data that nobody changes any more
 */
export function compileWhenUsed(
  schema: JsonObject,
  options: Omit<CompileWithParts, "limits" | "resources">,
): { readonly ok: true; readonly validator: Validator } | { readonly ok: false; readonly error: SchemaError } {
  if (!isSurelyValid(schema, options)) return compileWithParts(schema, options);
  let compiled: Validator | undefined;
  const own = (): Validator => (compiled ??= requireValidator(schema, options));
  const validator: Validator = {
    check: (value) => own().check(value),
    validate: (value) => own().validate(value),
    validateOwn: (value) => own().validateOwn(value),
  };
  return { ok: true, validator };
}
