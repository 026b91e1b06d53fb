import type { JsonObject, JsonValue } from "@keyhole/kernel";
import { isObject, resolve, shapeOf } from "./schema.ts";

/** What a form holds for one part: `undefined` is left out of the input. */
export type Draft = JsonValue | undefined;

/** What a new form starts with: defaults, and required objects so that their own members show. */
export function initialValue(schema: JsonObject, root: JsonObject, required: boolean, depth = 0): Draft {
  const resolved = resolve(schema, root);
  if (Object.hasOwn(resolved, "default")) return resolved["default"];
  const shape = shapeOf(resolved, root, depth);
  switch (shape.kind) {
    case "object": {
      if (!required) return undefined;
      const members = shape.members.map(
        ({ name, schema, required }) => [name, initialValue(schema, root, required, depth + 1)] as const,
      );
      return fromEntries(members);
    }
    case "choice":
      return required && shape.options.length === 1 ? shape.options[0] : undefined;
    case "variants": {
      const first = shape.variants[0];
      return required && first !== undefined ? initialValue(first.schema, root, true, depth + 1) : undefined;
    }
    case "list":
      return required ? [] : undefined;
    case "boolean":
      return required ? false : undefined;
    case "null":
      return required ? null : undefined;
    case "text":
    case "number":
    case "json":
      return undefined;
  }
}

/** An example of the whole input, and what a new form starts with where it says nothing. */
export function filledWith(example: JsonObject, root: JsonObject): JsonObject {
  const initial = initialValue(root, root, true);
  return fromEntries([...Object.entries(isObject(initial) ? initial : {}), ...Object.entries(example)]);
}

/** Own data properties only: a member named `__proto__` stays one. */
export function fromEntries(entries: Iterable<readonly [string, Draft]>): JsonObject {
  const present = [...entries].filter((entry): entry is readonly [string, JsonValue] => entry[1] !== undefined);
  return Object.fromEntries(present);
}

export function withMember(value: Draft, name: string, member: Draft): JsonObject {
  const entries = isObject(value) ? Object.entries(value) : [];
  const others: readonly (readonly [string, Draft])[] = entries.some(([key]) => key === name)
    ? entries.map(([key, old]) => [key, key === name ? member : old] as const)
    : [...entries, [name, member] as const];
  return fromEntries(others);
}

export function memberOf(value: Draft, name: string): Draft {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** RFC 6901. */
export function pointerTo(parent: string, token: string | number): string {
  return `${parent}/${String(token).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

export function labelOf(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
