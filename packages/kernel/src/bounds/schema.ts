import { ceilings } from "../limits.ts";
import type { JsonObject } from "../json/json.ts";

/** JSON Schema (2020-12) of bounds: each at least 1 and at most its ceiling. */
export const boundsSchema: JsonObject = {
  type: "object",
  properties: Object.fromEntries(
    Object.entries(ceilings).map(([name, maximum]) => [name, { type: "integer", minimum: 1, maximum }]),
  ),
  additionalProperties: false,
};
