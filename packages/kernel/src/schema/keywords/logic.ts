import { at, call, type Context, type Place, schemaList, type Unit } from "../context.ts";
import { isCompound, isObject } from "../equal.ts";
import type { Check, JsonObject } from "../types.ts";

/** The schema behind a chain of plain `$ref`s, for looking at, not for compiling. */
function behindRefs(schema: unknown, place: Place, context: Context): unknown {
  let current = { schema, place };
  for (let hops = 0; hops < 8 && isObject(current.schema) && typeof current.schema["$ref"] === "string"; hops++) {
    if (Object.keys(current.schema).length > 1) return current.schema;
    current = context.follow(current.schema["$ref"], false, current.place);
  }
  return current.schema;
}

/** The primitive values that a branch allows for a property that it requires. */
function tags(branch: JsonObject, key: string): readonly unknown[] {
  const property =
    isObject(branch["properties"]) && Object.hasOwn(branch["properties"], key) ? branch["properties"][key] : undefined;
  if (!isObject(property) || property["$ref"] !== undefined) return [];
  const list = Object.hasOwn(property, "const") ? [property["const"]] : property["enum"];
  return Array.isArray(list) && list.every((tag) => !isCompound(tag)) ? list : [];
}

/**
 * The property whose value picks the branch: each branch is of type object, requires it, and allows values for it that
 * no other branch allows. Undefined when there is none.
 */
export function discriminator(
  branches: readonly unknown[],
  place: Place,
  context: Context,
): { key: string; byTag: Map<unknown, number> } | undefined {
  if (branches.length < 2) return undefined;
  const resolved = branches.map((branch) => behindRefs(branch, place, context));
  if (!resolved.every((branch) => isObject(branch) && branch["type"] === "object" && Array.isArray(branch["required"])))
    return undefined;
  const objects = resolved as JsonObject[];
  for (const key of (objects[0] as JsonObject)["required"] as unknown[]) {
    if (typeof key !== "string") continue;
    const byTag = new Map<unknown, number>();
    const fits = objects.every((branch, index) => {
      const own = tags(branch, key);
      return (
        own.length > 0 &&
        (branch["required"] as unknown[]).includes(key) &&
        own.every((tag) => !byTag.has(tag) && byTag.set(tag, index))
      );
    });
    if (fits) return { key, byTag };
  }
  return undefined;
}

/** At least one of the checks, or exactly one. */
function some(checks: readonly Check[], exactly: boolean, { budget }: Context): Check {
  return (value) => {
    budget.spendOn(value, checks.length);
    let found = false;
    for (let index = 0; index < checks.length; index++) {
      if ((checks[index] as Check)(value)) {
        if (!exactly) return true;
        if (found) return false;
        found = true;
      }
    }
    return found;
  };
}

/** `anyOf` and `oneOf` whose branches a discriminator keeps apart: one look instead of a try of each branch. */
function picked(
  list: readonly unknown[],
  checks: readonly Check[],
  other: Check,
  place: Place,
  context: Context,
): Check {
  const found = discriminator(list, place, context);
  if (found === undefined) return other;
  const { key } = found;
  const byTag = new Map([...found.byTag].map(([tag, index]) => [tag, checks[index] as Check]));
  return (value) => {
    if (!isObject(value)) return false;
    const check = byTag.get(value[key]);
    return check !== undefined && check(value);
  };
}

/** `allOf`, `anyOf`, `oneOf`, `not`, `if`. */
export function logic(schema: JsonObject, place: Place, context: Context): Unit[] {
  const units: Unit[] = [];
  const branches = (keyword: string): Unit[] =>
    schemaList(schema, keyword, place).map((branch, index) =>
      context.inPlace(branch, at(place, `${keyword}/${index}`)),
    );
  const { budget } = context;
  if (schema["allOf"] !== undefined) {
    const parts = branches("allOf");
    if (parts.length > 1) units.push(call((value) => (budget.spendOn(value, parts.length), true)));
    units.push(...parts);
  }
  for (const keyword of ["anyOf", "oneOf"]) {
    if (schema[keyword] === undefined) continue;
    const checks = branches(keyword).map((unit) => unit.check);
    units.push(
      call(
        picked(
          schema[keyword] as unknown[],
          checks,
          some(checks, keyword === "oneOf", context),
          at(place, keyword),
          context,
        ),
      ),
    );
  }
  if (schema["not"] !== undefined) {
    const { check } = context.inPlace(schema["not"], at(place, "not"));
    units.push(call((value) => !check(value)));
  }
  if (schema["if"] !== undefined) {
    const { check } = context.inPlace(schema["if"], at(place, "if"));
    const yes = context.inPlace(schema["then"] ?? true, at(place, "then")).check;
    const no = context.inPlace(schema["else"] ?? true, at(place, "else")).check;
    units.push(call((value) => (budget.spendOn(value, 2), check(value) ? yes(value) : no(value))));
  }
  return units;
}
