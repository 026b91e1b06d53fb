import { spend } from "./budget.ts";
import { at, type Context, hasKeywords, type Place } from "./context.ts";
import { isCompound, isObject } from "./equal.ts";
import { EXHAUSTED } from "./refusal.ts";
import { parts } from "./walk.ts";

/** A copy that shares nothing with the schema; a key `__proto__` is left out. */
function clone(value: unknown): unknown {
  const text = JSON.stringify(value);
  spend(4 + (text.length >> 1));
  return JSON.parse(text, (key, member: unknown) => (key === "__proto__" ? undefined : member));
}

/**
 * Fills in missing members from `properties/…/default`, in place, also below what was filled in. Branches that may not
 * apply (`anyOf`, `oneOf`, `if`, `dependentSchemas`) give no defaults: which of them applies is not known before.
 */
export function fillDefaults(from: Place, value: unknown, context: Context, depth = 0): void {
  if (!hasKeywords(from) || !isCompound(value)) return;
  // A default that brings itself in again would never end.
  if (depth > context.limits.valueDepth) throw EXHAUSTED;
  spend(1);
  const place = context.locate(from);
  const properties = at(place, "properties").schema;
  const entries = Object.entries(isObject(properties) && isObject(value) ? properties : {});
  spend(entries.length);
  for (const [name, property] of entries) {
    if (name !== "__proto__" && !Object.hasOwn(value, name) && isObject(property) && Object.hasOwn(property, "default"))
      (value as Record<string, unknown>)[name] = clone(property["default"]);
  }
  for (const { branch, keyword, place: sub, value: part, token } of parts(place, value, context)) {
    if (!branch && !keyword.startsWith("unevaluated"))
      fillDefaults(sub, part, context, token === undefined ? depth : depth + 1);
  }
}
