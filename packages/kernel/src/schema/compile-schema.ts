import { within } from "./budget.ts";
import { compiler } from "./compiler.ts";
import { draftDialect } from "./dialect.ts";
import { compileDefaults } from "./defaults.ts";
import { failure } from "./failure.ts";
import { DEFAULT_LIMITS, type Limits } from "./limits.ts";
import { Refusal } from "./refusal.ts";
import { openResources } from "./resources.ts";
import { snapshot } from "./snapshot.ts";
import type {
  CompileOptions,
  CompileResult,
  SchemaError,
  ValidationError,
  ValidationResult,
  Validator,
} from "./types.ts";

/**
 * Compiles a JSON Schema to closures: no code is generated, and nothing is fetched.
 *
 * A schema that cannot be compiled (malformed, too large, a reference that leads nowhere, a pattern whose time has no
 * bound) is an expected failure, and a result.
 *
 * @example
 * const compiled = compileSchema({ type: "object", properties: { n: { type: "integer" } }, required: ["n"] });
 * if (compiled.ok) compiled.validator.check({ n: 1 }); // true
 */
export function compileSchema(schema: unknown, options: CompileOptions = {}): CompileResult {
  try {
    return { ok: true, ...validatorOf(schema, options) };
  } catch (thrown) {
    const refusal =
      thrown instanceof RangeError ? new Refusal("SCHEMA_TOO_DEEP", "The schema nests too deep.", "") : thrown;
    if (refusal instanceof Refusal) return { ok: false, error: refusal.error };
    throw thrown;
  }
}

function validatorOf(
  schema: unknown,
  options: CompileOptions,
): { readonly validator: Validator; readonly warnings: readonly SchemaError[] } {
  const limits: Limits = { ...DEFAULT_LIMITS, ...options.limits };
  const resources = openResources(limits, options.resources ?? new Map());
  const root = resources.add(schema, "", draftDialect(options.draft));
  const { context, place } = compiler(resources, limits, options, root);
  const conforms = context.check(place);
  const wanted = options.defaults !== "ignore" && resources.defaults;
  const fill = wanted ? compileDefaults(place, context) : undefined;

  /** All that is done with one value shares one budget. */
  const judged = (value: unknown): ValidationResult => {
    const errors: ValidationError[] = [];
    let result: ValidationResult = EXHAUSTED;
    const judge = (): void => {
      fill?.(value);
      if (conforms(value)) result = { ok: true, value };
      else if (options.explain === undefined) result = UNEXPLAINED;
      else {
        options.explain(place as never, value, context as never, errors);
        result = UNEXPLAINED;
      }
    };
    within(limits, judge, value);
    return errors.length > 0 ? { ok: false, errors } : result;
  };
  const validate = (input: unknown): ValidationResult => {
    const copied = snapshot(input, limits.valueDepth, limits.valueNodes);
    return copied.ok ? judged(copied.value) : { ok: false, errors: [copied.error] };
  };

  const validator: Validator = {
    check: (value) => within(limits, conforms, value),
    validate,
    validateOwn: fill === undefined ? judged : validate,
  };
  return { validator, warnings: context.warnings };
}

/** A result whose one error is about the whole value. */
const refused = (keyword: string, expected: string, received: string): ValidationResult => ({
  ok: false,
  errors: [failure("", "", "", keyword, expected, received)],
});
const EXHAUSTED = refused("limit", "a value within the limits", "a value that exceeds a limit");
const UNEXPLAINED = refused("schema", "a value that conforms to the schema", "a value that does not conform");
