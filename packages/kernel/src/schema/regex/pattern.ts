import type { Context } from "../context.ts";
import { Refusal } from "../refusal.ts";

/** A compiled pattern: whether it matches anywhere in the text. */
export type Matcher = (text: string) => boolean;

export function compilePattern(source: string, path: string, context: Context): Matcher {
  const { patternLength } = context.budget.limits;
  if (source.length > patternLength) {
    throw new Refusal("PATTERN_TOO_LARGE", `The pattern is longer than ${patternLength} characters.`, path);
  }
  try {
    const native = new RegExp(source, "u");
    return (text) => native.test(text);
  } catch {
    throw new Refusal("PATTERN_INVALID", `The pattern is not an ECMA-262 regular expression with Unicode semantics.`, path);
  }
}
