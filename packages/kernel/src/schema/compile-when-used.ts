import { compileWithParts } from "./compile-with-parts.ts";
import { countOwn } from "./count-own.ts";
import { requireValidator } from "./require.ts";
import type { JsonObject } from "../json/json.ts";
import type { CompileWithParts, SchemaError, OwnValidator } from "./types.ts";

/**
 * `compileWithParts`, at the first value where a part says that the schema is surely valid. It refuses the same schemas, and at once.
 *
 * @param schema JSON data that no longer changes
 */
export function compileWhenUsed(
  schema: JsonObject,
  options: Omit<CompileWithParts, "limits" | "resources">,
): { readonly ok: true; readonly validator: OwnValidator } | { readonly ok: false; readonly error: SchemaError } {
  if (options.isSurelyValid?.(schema, options) !== true) return compileWithParts(schema, options, countOwn);
  let compiled: OwnValidator | undefined;
  const own = (): OwnValidator => (compiled ??= requireValidator(schema, options));
  const validator: OwnValidator = {
    check: (value) => own().check(value),
    validateOwn: (value) => own().validateOwn(value),
  };
  return { ok: true, validator };
}
