import type { Context, Place } from "../context.ts";
import type { Explain, ValidationError } from "../types.ts";
import { explainPart } from "./explain.ts";
import { findSecrets } from "./secrets.ts";

/**
 * Hands explanations of refused values to `compileSchema({ … }, { explain })`. Runs only after a check has failed.
 *
 * @example
 * const compiled = compileSchema({ type: "integer" }, { explain });
 * if (compiled.ok) compiled.validator.validate("5"); // … hint: "Write 5 without quotation marks."
 */
export const explain: Explain = (place: Place, value: unknown, context: Context, errors: ValidationError[]): void => {
  const secrets = new Set<string>();
  findSecrets(place, value, "", context, secrets);
  explainPart(place, value, "", "", errors, false, secrets, context);
};
