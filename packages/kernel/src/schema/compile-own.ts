import { isExhausted, within } from "./budget.ts";
import { check } from "./check.ts";
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
  JsonObject,
  OwnValidator,
  ValidationError,
  ValidationResult,
} from "./types.ts";

/** Compiles JSON data that no longer changes, with the parts that it is given. The validator is for such data, too. */
export function compileOwn(schema: unknown, options: CompileWithParts): CompileResult<OwnValidator> {
  try {
    return { ok: true, validator: validatorOf(schema, options) };
  } catch (thrown) {
    const refusal =
      thrown instanceof RangeError ? new Refusal("SCHEMA_TOO_DEEP", "The schema nests too deep.", "") : thrown;
    if (refusal instanceof Refusal) return { ok: false, error: refusal.error };
    throw thrown;
  }
}

/**
 * The validator of a schema of our own.
 *
 * @throws TypeError when it is refused: a bug in the schema.
 */
export function requireValidator(schema: JsonObject, options: CompileWithParts): OwnValidator {
  const compiled = compileOwn(schema, { trusted: true, ...options });
  if (compiled.ok) return compiled.validator;
  const { code, schemaPath, message } = compiled.error;
  throw new TypeError(`${code} at ${schemaPath}: ${message}`);
}

function validatorOf(schema: unknown, options: CompileWithParts): OwnValidator {
  const limits: Limits = { ...DEFAULT_LIMITS, ...options.limits };
  const resources = new Resources(limits, options.resources ?? new Map());
  const root = resources.add(schema, "", draftDialect(options.draft));
  const { context, place, node, defaults } = compile(resources, limits, options, root);
  const fills = options.defaults !== "ignore" && defaults.length > 0;
  if (fills) judgeDefaults(defaults, limits);

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
  return { check: (value) => within(limits, conforms, value, false), validateOwn: judged };
}

/** A result whose one error is about the whole value. */
const refused = (keyword: string, expected: string, received: string): ValidationResult => ({
  ok: false,
  errors: [failure("", "", "", keyword, expected, received)],
});
const EXHAUSTED = refused("limit", "a value within the limits", "a value that exceeds a limit");
const UNEXPLAINED = refused("schema", "a value that conforms to the schema", "a value that does not conform");
