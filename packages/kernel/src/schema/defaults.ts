import { spend } from "./budget.ts";
import { at, type Context, hasKeywords, type Place } from "./context.ts";
import { isCompound, isObject } from "./equal.ts";
import { EXHAUSTED } from "./refusal.ts";
import { parts } from "./walk.ts";

/** A copy that shares nothing with the schema; a key `__proto__` is left out. */
const clone = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (key, member: unknown) => (key === "__proto__" ? undefined : member));

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
  for (const [name, property] of Object.entries(isObject(properties) && isObject(value) ? properties : {})) {
    if (name !== "__proto__" && !Object.hasOwn(value, name) && isObject(property) && Object.hasOwn(property, "default"))
      (value as Record<string, unknown>)[name] = clone(property["default"]);
  }
  for (const { branch, keyword, place: sub, value: part, token } of parts(place, value, context)) {
    if (!branch && !keyword.startsWith("unevaluated"))
      fillDefaults(sub, part, context, token === undefined ? depth : depth + 1);
  }
}
