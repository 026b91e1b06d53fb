import { isExhausted, within } from "./budget.ts";
import { check } from "./check.ts";
import type { CopySchema } from "./count-own.ts";
import { compile } from "./compiler.ts";
import { filled, judgeDefaults } from "./defaults.ts";
import { draftDialect } from "./dialect.ts";
import { failure } from "./failure.ts";
import { DEFAULT_LIMITS, type Limits } from "./limits.ts";
import { Refusal } from "./refusal.ts";
import { Resources } from "./resources.ts";
import type {
  CompileResult,
  CompileWithParts,
  OwnValidator,
  SchemaError,
  ValidationError,
  ValidationResult,
} from "./types.ts";

/** `compileSchema` with the parts that it is given. */
export function compileWithParts(
  schema: unknown,
  options: CompileWithParts,
  copy: CopySchema,
): CompileResult<OwnValidator> {
  try {
    return { ok: true, ...validatorOf(schema, options, copy) };
  } catch (thrown) {
    const refusal =
      thrown instanceof RangeError ? new Refusal("SCHEMA_TOO_DEEP", "The schema nests too deep.", "") : thrown;
    if (refusal instanceof Refusal) return { ok: false, error: refusal.error };
    throw thrown;
  }
}

function validatorOf(
  schema: unknown,
  options: CompileWithParts,
  copy: CopySchema,
): { readonly validator: OwnValidator; readonly warnings: readonly SchemaError[] } {
  const limits: Limits = { ...DEFAULT_LIMITS, ...options.limits };
  const resources = new Resources(limits, options.resources ?? new Map(), copy);
  const root = resources.add(schema, "", draftDialect(options.draft));
  const { context, place, node, defaults } = compile(resources, limits, options, root);
  const fills = options.defaults !== "ignore" && resources.hasDefaults;
  if (fills) context.warnings.push(...judgeDefaults(defaults, limits));

  /** Runs only after a check has failed. */
  const explained = (value: unknown): ValidationResult => {
    const errors: ValidationError[] = [];
    try {
      options.explain?.(place as never, value, context as never, errors);
    } catch (thrown) {
      if (!isExhausted(thrown)) throw thrown;
      if (errors.length === 0) return EXHAUSTED;
    }
    return errors.length > 0 ? { ok: false, errors } : UNEXPLAINED;
  };
  const judge = (value: unknown): ValidationResult => {
    const full = fills ? filled(node, value, limits.valueDepth) : value;
    return check(node, full) ? { ok: true, value: full } : explained(full);
  };
  /** All work on one value shares one budget. */
  const judged = (value: unknown): ValidationResult => within(limits, judge, value, EXHAUSTED);
  const conforms = (value: unknown): boolean => check(node, value);
  const validator: OwnValidator = {
    check: (value) => within(limits, conforms, value, false),
    validateOwn: judged,
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
