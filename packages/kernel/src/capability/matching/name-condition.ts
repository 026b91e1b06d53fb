import type { ConditionSpec } from "../family.ts";
import { checkNamePattern, matchName } from "./names.ts";

/** A condition of rules about a name that an operator gives, and the list about it. Exact, `logs_*` or `*`. */
export function nameCondition<N>(list: string, nameOf: (need: N) => string): ConditionSpec<N> {
  const matches = (patterns: readonly string[]) => (need: N) => patterns.some((each) => matchName(each, nameOf(need)));
  return { check: checkNamePattern, touches: matches, list: { name: list, covers: matches, text: nameOf } };
}
