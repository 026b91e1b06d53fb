import type { Context, Place } from "../context.ts";
import type { Explain, ValidationError } from "../types.ts";
import { ErrorList } from "./error-list.ts";
import { explainSpot } from "./explain.ts";
import { findSecrets } from "./secrets.ts";
import { Spot } from "./spot.ts";

/**
 * Hands explanations of refused values to `compileSchema({ … }, { explain })`. Runs only after a check has failed.
 *
 * @example
 * const compiled = compileSchema({ type: "integer" }, { explain });
 * if (compiled.ok) compiled.validator.validate("5"); // … hint: "Write 5 without quotation marks."
 */
export const explain: Explain = (place: Place, value: unknown, context: Context, errors: ValidationError[]): void =>
  explainInto(place, value, context, errors, false);

/** The same with one error for each place, for a form that shows it there. */
export const explainEach: Explain = (place: Place, value: unknown, context: Context, errors: ValidationError[]): void =>
  explainInto(place, value, context, errors, true);

function explainInto(place: Place, value: unknown, context: Context, errors: ValidationError[], each: boolean): void {
  const secrets = new Set<string>();
  findSecrets(place, value, "", context, secrets);
  const list = new ErrorList(context.limits.errors, errors, each);
  explainSpot(new Spot(place, value, "", "", list, false, secrets, context));
}
