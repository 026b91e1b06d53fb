import { Compiler } from "./compiler.ts";
import { Budget, type Place } from "./context.ts";
import { draftDialect } from "./dialect.ts";
import { fillDefaults, findSecrets } from "./explain/defaults.ts";
import { received } from "./explain/describe.ts";
import { explainer, failure, type Spot } from "./explain/explain.ts";
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
  const compiler = new Compiler(resources, budget, options);
  try {
    const root = resources.add(schema, "", draftDialect(options.draft ?? "2020-12"));
    return {
      ok: true,
      validator: validator(
        compiler.root(root),
        root.root,
        compiler,
        limits,
        options.defaults !== "ignore" && resources.defaults,
      ),
    };
  } catch (thrown) {
    if (thrown instanceof Refusal) return { ok: false, error: thrown.error };
    if (thrown instanceof RangeError) {
      return {
        ok: false,
        error: new Refusal("SCHEMA_TOO_DEEP", "The schema nests too deep to be compiled.", "").error,
      };
    }
    throw thrown;
  }
}

/** The stack is as much a budget as the steps are: a value that overflows it is refused, not a crash. */
const isExhausted = (thrown: unknown): boolean => thrown === EXHAUSTED || thrown instanceof RangeError;

function validator(
  { check: plain, place }: { check: Check; place: Place },
  root: unknown,
  compiler: Compiler,
  limits: Limits,
  defaults: boolean,
): Validator {
  const { budget, resources } = compiler;

  /** Runs with a fresh budget; false when that is used up. */
  const within = (run: (value: unknown) => unknown, value: unknown): boolean => {
    budget.reset();
    try {
      return run(value) !== false;
    } catch (thrown) {
      if (isExhausted(thrown)) return false;
      throw thrown;
    }
  };

  const failed = (value: unknown): ValidationResult => {
    const errors: ValidationError[] = [];
    const secrets = new Set<string>();
    within(() => {
      if (resources.secrets) findSecrets(root, place, value, "", compiler, secrets);
      if (root === false)
        errors.push(failure(TOP, "", "false", "nothing: the schema refuses every value", received(value, false)));
      explainer(compiler, secrets, errors)(root, place, value, TOP);
    }, value);
    return errors.length > 0 ? { ok: false, errors } : EXHAUSTED_RESULT;
  };

  const validate = (input: unknown): ValidationResult => {
    const copied = snapshot(input, limits);
    if (!copied.ok) {
      const { path, limit, expected, received: got, hint } = copied.reason;
      const keyword = limit === undefined ? "json" : "limit";
      return { ok: false, errors: [failure({ ...TOP, instance: path }, "", keyword, expected, got, hint)] };
    }
    const { value } = copied;
    if (defaults && !within(() => fillDefaults(root, place, value, compiler), value)) return EXHAUSTED_RESULT;
    return within(plain, value) ? { ok: true, value } : failed(value);
  };
  return { check: (value) => within(plain, value), validate, fills: defaults };
}

const TOP: Spot = { instance: "", schema: "", location: "" };
const EXHAUSTED_RESULT: ValidationResult = {
  ok: false,
  errors: [
    failure(
      TOP,
      "",
      "limit",
      "a value that can be checked within the limits",
      "one that takes more steps or nests deeper",
    ),
  ],
};
