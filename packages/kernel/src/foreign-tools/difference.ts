import { pointerOf } from "../json/pointer.ts";
import type { JsonObject, JsonValue } from "../json/json.ts";
import { visible } from "../support/visible.ts";

/** One place at which two definitions differ. */
export interface DefinitionDifference {
  /** JSON Pointer. */
  readonly path: string;
  /** JSON, with invisible characters as escapes; `undefined` where there was nothing. */
  readonly pinned: string | undefined;
  readonly seen: string | undefined;
}

const MOST_PLACES = 100;
const MOST_LENGTH = 1_000;

/** All places at which a definition differs from the pinned one, at most 100. */
export function differencesOf(pinned: JsonObject, seen: JsonObject): readonly DefinitionDifference[] {
  const found: DefinitionDifference[] = [];
  compare("", pinned, seen, found);
  return found;
}

function compare(
  path: string,
  a: JsonValue | undefined,
  b: JsonValue | undefined,
  found: DefinitionDifference[],
): void {
  if (found.length >= MOST_PLACES) return;
  const [left, right] = [membersOf(a), membersOf(b)];
  if (left && right && Array.isArray(a) === Array.isArray(b)) {
    for (const key of new Set([...left.keys(), ...right.keys()]))
      compare(`${path}${pointerOf([key])}`, left.get(key), right.get(key), found);
  } else if (JSON.stringify(a) !== JSON.stringify(b)) found.push({ path, pinned: shown(a), seen: shown(b) });
}

function membersOf(value: JsonValue | undefined): ReadonlyMap<string, JsonValue> | undefined {
  return typeof value === "object" && value !== null ? new Map(Object.entries(value)) : undefined;
}

/** JSON as a person has to see it, so that it is what a model reads: nothing is hidden, and nothing runs the other way. */
export function visibleJson(value: JsonValue, indent = 0): string {
  return visible(JSON.stringify(value, undefined, indent));
}

function shown(value: JsonValue | undefined): string | undefined {
  if (value === undefined) return undefined;
  const text = visibleJson(value);
  return text.length <= MOST_LENGTH ? text : `${text.slice(0, MOST_LENGTH)}… (${text.length} characters)`;
}
