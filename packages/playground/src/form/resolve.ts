import { isJsonObject, type JsonObject, type JsonValue, pointerTokens } from "@keyhole/kernel";

/** The form follows references this far, and below takes JSON for a recursive schema. */
export const maxDepth = 12;
/** Parts and members that the form folds into one schema: one of more is edited as JSON. */
const mostParts = 5_000;

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function schemasOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** A schema with its local references followed and its `allOf` folded in, as far as that is plain. */
export function resolve(schema: unknown, root: JsonObject): JsonObject {
  const work: Work = { root, partsLeft: mostParts };
  const resolved = fold(schema, work, 0);
  return work.partsLeft < 0 ? {} : resolved;
}

interface Work {
  readonly root: JsonObject;
  partsLeft: number;
}

function fold(schema: unknown, work: Work, depth: number): JsonObject {
  if (!isJsonObject(schema) || depth > maxDepth || --work.partsLeft < 0) return {};
  const { $ref, allOf, ...own } = schema;
  const parts = [...($ref === undefined ? [] : [pointed($ref, work.root)]), ...schemasOf(allOf)];
  return parts.reduce<JsonObject>((sum, part) => {
    const below = fold(part, work, depth + 1);
    work.partsLeft -= Object.keys(asObject(below["properties"])).length + stringsOf(below["required"]).length;
    return work.partsLeft < 0 ? {} : merge(below, sum);
  }, own);
}

function pointed(reference: JsonValue | undefined, root: JsonObject): unknown {
  if (typeof reference !== "string" || !reference.startsWith("#")) return {};
  const pointer = decoded(reference.slice(1));
  if (pointer !== "" && !pointer.startsWith("/")) return anchored(pointer, root, { left: mostParts }) ?? {};
  let at: unknown = root;
  for (const key of pointerTokens(pointer)) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return {};
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}

/** A fragment that is not encoded well names nothing. */
function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return "/";
  }
}

/** The part that names itself (JSON Schema 2020-12, 8.2.2), wherever it stands. */
function anchored(name: string, within: unknown, work: { left: number }): unknown {
  if (typeof within !== "object" || within === null || --work.left < 0) return undefined;
  if (isJsonObject(within) && (within["$anchor"] === name || within["$dynamicAnchor"] === name)) return within;
  for (const part of Object.values(within)) {
    const found = anchored(name, part, work);
    if (found !== undefined) return found;
  }
  return undefined;
}

export function merge(below: JsonObject, above: JsonObject): JsonObject {
  const required = [...stringsOf(below["required"]), ...stringsOf(above["required"])];
  const properties = { ...asObject(below["properties"]), ...asObject(above["properties"]) };
  return {
    ...below,
    ...above,
    ...(required.length > 0 && { required }),
    ...(Object.keys(properties).length > 0 && { properties }),
  };
}

export function asObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function stringsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
