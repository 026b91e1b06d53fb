import { Compiler } from "./compiler.ts";
import { Budget } from "./context.ts";
import { draftDialect } from "./dialect.ts";
import { DEFAULT_LIMITS, type Limits } from "./limits.ts";
import { EXHAUSTED, Refusal } from "./refusal.ts";
import { Resources } from "./resources.ts";
import { snapshot } from "./snapshot.ts";
import type { Check, CompileOptions, CompileResult, ValidationError, ValidationResult, Validator } from "./types.ts";

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
  const limits: Limits = { ...DEFAULT_LIMITS, ...options.limits };
  const budget = new Budget(limits);
  const resources = new Resources(limits, options.resources ?? new Map());
  const compiler = new Compiler(resources, budget, options.trusted === true, options.formats !== "annotate");
  try {
    const { unit } = compiler.root(resources.add(schema, "", draftDialect(options.draft ?? "2020-12")));
    return { ok: true, validator: validator(unit.check, compiler, limits) };
  } catch (thrown) {
    if (thrown instanceof Refusal) return { ok: false, error: thrown.error };
    if (thrown instanceof RangeError) {
      return { ok: false, error: { code: "SCHEMA_TOO_DEEP", message: "The schema nests too deep to be compiled.", schemaPath: "" } };
    }
    throw thrown;
  }
}

/** The stack is as much a budget as the steps are: a value that overflows it is refused, not a crash. */
const isExhausted = (thrown: unknown): boolean => thrown === EXHAUSTED || thrown instanceof RangeError;

function metered(check: Check, budget: Budget): Check {
  return (value) => {
    budget.reset();
    try {
      return check(value);
    } catch (thrown) {
      if (isExhausted(thrown)) return false;
      throw thrown;
    }
  };
}

function validator(root: Check, compiler: Compiler, limits: Limits): Validator {
  const check = compiler.metered ? metered(root, compiler.budget) : root;
  const validate = (input: unknown): ValidationResult => {
    const copied = snapshot(input, limits);
    if (!copied.ok) {
      const { path, keyword, expected, received } = copied.reason;
      const error: ValidationError = { instancePath: path, schemaPath: "", keyword, expected, received, message: `Expected ${expected} but got ${received}.` };
      return { ok: false, errors: [error] };
    }
    if (check(copied.value)) return { ok: true, value: copied.value };
    return { ok: false, errors: [{ instancePath: "", schemaPath: "", keyword: "", expected: "a conforming value", received: "another", message: "The value does not conform." }] };
  };
  return { check, validate };
}
