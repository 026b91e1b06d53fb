import { hashJson } from "../hash/blake3-hash.ts";
import type { JsonObject, JsonValue } from "../json/json.ts";
import { snapshot } from "../json/snapshot.ts";
import { hasInvisibleInProse } from "../support/prose.ts";
import { hasInvisible } from "../support/visible.ts";
import type { ToolPin } from "./pins.ts";

/** Of one definition. Models see all of it. */
const limits = { maxDepth: 32, maxNodes: 20_000, maxStringUnits: 262_144 };

/** A definition as it came, or the reason why the source cannot pin it. */
export type ReadDefinition =
  | { readonly ok: true; readonly pin: ToolPin; readonly hasUnseen: boolean }
  | { readonly ok: false; readonly reason: string };

/** Takes a foreign definition as data. `_meta` is not part of it: nothing here reads it, and servers put changing things there. */
export function readDefinition(foreign: { readonly name: string }): ReadDefinition {
  const { _meta: _, ...definition } = foreign as { readonly name: string; readonly _meta?: unknown };
  const taken = snapshot(definition, limits);
  if (!taken.ok) return { ok: false, reason: `The source cannot pin the definition: ${taken.error.message}.` };
  const own = taken.value as JsonObject;
  return { ok: true, pin: { tool: definition.name, hash: hashJson(own), definition: own }, hasUnseen: hasUnseen(own) };
}

/** Of an object: the definition or a schema in it, the names of a schema's members, or a value that goes into a call. */
type Place = "schema" | "names" | "value";

const places: ReadonlyMap<string, Place> = new Map([
  ...["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"].map(
    (key) => [key, "names"] as const,
  ),
  ...["default", "const", "enum", "examples"].map((key) => [key, "value"] as const),
]);

function placeIn(place: Place, key: string): Place {
  if (place === "value") return place;
  return place === "names" ? "schema" : (places.get(key) ?? "schema");
}

/** Only descriptions are prose. A model copies names and values into calls. */
function hasUnseen(value: JsonValue, place: Place = "schema"): boolean {
  if (typeof value === "string") return hasInvisible(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(
    ([key, each]) =>
      hasInvisible(key) ||
      (place === "schema" && key === "description" && typeof each === "string"
        ? hasInvisibleInProse(each)
        : hasUnseen(each, placeIn(place, key))),
  );
}
