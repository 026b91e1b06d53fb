import { isJsonObject, pointerOf } from "@keyhole/kernel";
import type { JsonObject, JsonValue } from "@keyhole/kernel";
import { resolve } from "./resolve.ts";
import { schemaOfExtra, shapeOf } from "./schema.ts";

/** Fields that one form draws. The tool's author wrote the schema: past this the person edits the input as JSON. */
export const mostFields = 500;

/** The value of one part of a form. The input omits `undefined`. */
export type Draft = JsonValue | undefined;

/** The first value of a form: defaults, and required objects so that their own members show. A schema of too many parts starts with some of them. */
export function initialValue(
  schema: JsonObject,
  root: JsonObject,
  required: boolean,
  depth = 0,
  work = { partsLeft: mostFields },
): Draft {
  if (--work.partsLeft < 0) return undefined;
  const resolved = resolve(schema, root);
  if (Object.hasOwn(resolved, "default")) return resolved["default"];
  const shape = shapeOf(resolved, root, depth);
  switch (shape.kind) {
    case "object": {
      if (!required) return undefined;
      const members = shape.members.map(
        ({ name, schema, required }) => [name, initialValue(schema, root, required, depth + 1, work)] as const,
      );
      return fromEntries(members);
    }
    case "choice":
      return required && shape.options.length === 1 ? shape.options[0]?.value : undefined;
    case "variants": {
      const first = shape.variants[0];
      return required && first !== undefined ? initialValue(first.schema, root, true, depth + 1, work) : undefined;
    }
    case "list":
    case "set":
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

/** Whether the form of this value would have more than {@link mostFields}. */
export function hasTooManyFields(root: JsonObject, value: Draft): boolean {
  const work = { partsLeft: mostFields };
  count(root, root, { value, required: true, depth: 0 }, work);
  return work.partsLeft < 0;
}

interface Drawn {
  readonly value: Draft;
  readonly required: boolean;
  readonly depth: number;
}

/** Goes the way of the fields. */
function count(
  schema: JsonObject,
  root: JsonObject,
  { value, required, depth }: Drawn,
  work: { partsLeft: number },
): void {
  if (--work.partsLeft < 0) return;
  const shape = shapeOf(resolve(schema, root), root, depth);
  const within = (part: JsonObject, member: Draft, isRequired: boolean): void => {
    if (work.partsLeft >= 0) count(part, root, { value: member, required: isRequired, depth: depth + 1 }, work);
  };
  if (shape.kind === "object" && (required || value !== undefined)) {
    for (const { name, schema, required } of shape.members) within(schema, memberOf(value, name), required);
    const { extra } = shape;
    const named = new Set(shape.members.map(({ name }) => name));
    if (extra !== undefined && isJsonObject(value))
      for (const [name, member] of Object.entries(value))
        if (!named.has(name)) within(schemaOfExtra(extra, name), member, true);
  } else if (shape.kind === "list" && Array.isArray(value)) {
    for (const item of value) within(shape.items, item as Draft, true);
  } else if (shape.kind === "variants") {
    // Without a value the form draws the first one. The form tries a value against each of them.
    if (value !== undefined) work.partsLeft -= shape.variants.length;
    for (const { schema } of value === undefined ? shape.variants.slice(0, 1) : shape.variants)
      within(schema, value, required);
  }
}

/** An example of the whole input, and what a new form starts with where it says nothing. */
export function filledWith(example: JsonObject, root: JsonObject): JsonObject {
  const initial = initialValue(root, root, true);
  return fromEntries([...Object.entries(isJsonObject(initial) ? initial : {}), ...Object.entries(example)]);
}

/** Own data properties only: a member named `__proto__` stays one. */
export function fromEntries(entries: Iterable<readonly [string, Draft]>): JsonObject {
  const present = [...entries].filter((entry): entry is readonly [string, JsonValue] => entry[1] !== undefined);
  return Object.fromEntries(present);
}

export function withMember(value: Draft, name: string, member: Draft): JsonObject {
  const entries = isJsonObject(value) ? Object.entries(value) : [];
  const others: readonly (readonly [string, Draft])[] = entries.some(([key]) => key === name)
    ? entries.map(([key, old]) => [key, key === name ? member : old] as const)
    : [...entries, [name, member] as const];
  return fromEntries(others);
}

export function memberOf(value: Draft, name: string): Draft {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** RFC 6901. */
export function pointerTo(parent: string, token: string | number): string {
  return `${parent}${pointerOf([token])}`;
}

export function labelOf(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
