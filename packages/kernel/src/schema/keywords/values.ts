import { call, invalid, type Place, type Unit } from "../context.ts";
import { equal, isCompound } from "../equal.ts";
import type { Check, JsonObject } from "../types.ts";

function oneOfThese(allowed: readonly unknown[]): Check {
  if (allowed.some(isCompound)) return (value) => allowed.some((item) => equal(item, value));
  const [a, b = a, c = a, d = a] = allowed;
  if (allowed.length > 0 && allowed.length < 5)
    return (value) => value === a || value === b || value === c || value === d;
  const set = new Set(allowed);
  return (value) => set.has(value);
}

/** `enum` and `const`. */
export function values(schema: JsonObject, place: Place): Unit[] {
  const units: Unit[] = [];
  if (Object.hasOwn(schema, "const")) units.push(call(oneOfThese([schema["const"]])));
  const allowed = schema["enum"];
  if (allowed !== undefined) {
    if (!Array.isArray(allowed)) throw invalid(place, "enum", "an array");
    units.push(call(oneOfThese(allowed)));
  }
  return units;
}
