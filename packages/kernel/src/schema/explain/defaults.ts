import type { Context, Place } from "../context.ts";
import { EXHAUSTED } from "../refusal.ts";
import { isCompound, isObject } from "../equal.ts";
import type { JsonObject } from "../types.ts";
import { escapeToken } from "../uri.ts";
import { parts } from "../walk.ts";

/** A copy that shares nothing with the schema; a key `__proto__` is left out. */
const clone = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (key, member: unknown) => (key === "__proto__" ? undefined : member));

/**
 * Fills in missing members from `properties/…/default`, in place, also below what was filled in. Branches that may not
 * apply (`anyOf`, `oneOf`, `if`, `dependentSchemas`) give no defaults: which of them applies is not known before.
 */
export function fillDefaults(schema: unknown, from: Place, value: unknown, context: Context, depth = 0): void {
  if (!isObject(schema) || !isCompound(value)) return;
  // A default that brings itself in again would never end.
  if (depth > context.budget.limits.valueDepth) throw EXHAUSTED;
  context.budget.spend(1);
  const place = context.locate(schema, from);
  const { properties } = schema;
  if (isObject(properties) && isObject(value) && !(place.resource.dialect.year === 7 && schema["$ref"] !== undefined)) {
    for (const [name, property] of Object.entries(properties)) {
      if (
        name !== "__proto__" &&
        !Object.hasOwn(value, name) &&
        isObject(property) &&
        Object.hasOwn(property, "default")
      )
        (value as Record<string, unknown>)[name] = clone(property["default"]);
    }
  }
  for (const part of parts(schema, place, value, context)) {
    if (!part.branch && !part.keyword.startsWith("unevaluated"))
      fillDefaults(part.schema, part.place, part.value, context, part.token === undefined ? depth : depth + 1);
  }
}

/** Adds the paths of all parts of a value that some subschema marks as secret, whether or not it applies in the end. */
export function findSecrets(
  schema: unknown,
  from: Place,
  value: unknown,
  path: string,
  context: Context,
  out: Set<string>,
): void {
  if (!isObject(schema)) return;
  context.budget.spend(1);
  if (isSecret(schema)) out.add(path);
  const place = context.locate(schema, from);
  for (const part of parts(schema, place, value, context)) {
    findSecrets(
      part.schema,
      part.place,
      part.value,
      part.token === undefined ? path : `${path}/${escapeToken(String(part.token))}`,
      context,
      out,
    );
  }
}

const isSecret = (schema: JsonObject): boolean => schema["writeOnly"] === true || schema["format"] === "password";
