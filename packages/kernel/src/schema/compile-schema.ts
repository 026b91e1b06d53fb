import { within } from "./budget.ts";
import { compiler } from "./compiler.ts";
import { draftDialect } from "./dialect.ts";
import { fillDefaults, findSecrets } from "./explain/defaults.ts";
import { explain } from "./explain/explain.ts";
import { failure } from "./explain/failure.ts";
import { DEFAULT_LIMITS, type Limits } from "./limits.ts";
import { Refusal } from "./refusal.ts";
import { openResources } from "./resources.ts";
import { snapshot } from "./snapshot.ts";
import type { CompileOptions, CompileResult, ValidationError, ValidationResult, Validator } from "./types.ts";

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
    return { ok: true, validator: validator(schema, options) };
  } catch (thrown) {
    const refusal =
      thrown instanceof RangeError
        ? new Refusal("SCHEMA_TOO_DEEP", "The schema nests too deep to be compiled.", "")
        : thrown;
    if (refusal instanceof Refusal) return { ok: false, error: refusal.error };
    throw thrown;
  }
}

function validator(schema: unknown, options: CompileOptions): Validator {
  const limits: Limits = { ...DEFAULT_LIMITS, ...options.limits };
  const resources = openResources(limits, options.resources ?? new Map());
  const root = resources.add(schema, "", draftDialect(options.draft));
  const { context, place } = compiler(resources, limits, options, root);
  const conforms = context.check(place);
  const fills = options.defaults !== "ignore" && resources.defaults;

  const failed = (value: unknown): ValidationResult => {
    const errors: ValidationError[] = [];
    const secrets = new Set<string>();
    const run = (): void => {
      if (resources.secrets) findSecrets(place, value, "", context, secrets);
      explain(place, value, "", "", errors, false, secrets, context);
    };
    within(limits, run, value);
    return errors.length > 0 ? { ok: false, errors } : EXHAUSTED_RESULT;
  };

  return {
    check: (value) => within(limits, conforms, value),
    validate(input) {
      const copied = snapshot(input, limits.valueDepth, limits.valueNodes);
      if (!copied.ok) {
        const { path, limit, expected, received, hint } = copied.reason;
        const keyword = limit === undefined ? "json" : "limit";
        return { ok: false, errors: [failure(path, "", "", keyword, expected, received, hint)] };
      }
      const { value } = copied;
      if (fills && !within(limits, () => fillDefaults(place, value, context), value)) return EXHAUSTED_RESULT;
      return within(limits, conforms, value) ? { ok: true, value } : failed(value);
    },
    fills,
  };
}

const EXHAUSTED_RESULT: ValidationResult = {
  ok: false,
  errors: [
    failure(
      "",
      "",
      "",
      "limit",
      "a value that can be checked within the limits",
      "one that takes more steps or nests deeper",
    ),
  ],
};
