import { spend } from "../budget.ts";
import { type Context, invalid, type Keywords } from "../context.ts";
import { equal, isCompound } from "../equal.ts";
import type { Check } from "../types.ts";
import { call, NEVER, type Unit } from "../unit.ts";

function oneOfThese(allowed: readonly unknown[]): Check {
  if (allowed.some(isCompound)) return (value) => (spend(allowed.length), allowed.some((item) => equal(item, value)));
  const [a, b = a, c = a, d = a] = allowed;
  if (allowed.length < 5) return (value) => value === a || value === b || value === c || value === d;
  const set = new Set(allowed);
  return (value) => set.has(value);
}

const ONE_OR_MORE = "an array of one or more values";

/** `enum` and `const`. */
export function values(place: Keywords, context: Context): Unit[] {
  const { schema } = place;
  const lists = Object.hasOwn(schema, "const") ? [[schema["const"]]] : [];
  const allowed = schema["enum"];
  if (allowed !== undefined) {
    if (!Array.isArray(allowed)) throw invalid(place, "enum", ONE_OR_MORE);
    if (allowed.length === 0) {
      // Draft 7 forbids it, later drafts advise against it.
      const refusal = invalid(place, "enum", ONE_OR_MORE);
      if (place.resource.dialect.year === 7) throw refusal;
      context.warnings.push(refusal.error);
    }
    lists.push(allowed);
  }
  return lists.map((list) => (list.length === 0 ? NEVER : call(oneOfThese(list))));
}
