import { pointerOf } from "../json/pointer.ts";
import type { JsonObject, JsonValue } from "../json/json.ts";
import { visible } from "../support/visible.ts";

/** One place at which two definitions differ. */
export interface DefinitionDifference {
  /** JSON Pointer. */
  readonly path: string;
  /** JSON, with invisible characters as escapes; `undefined` where there was nothing. Long equal beginnings and ends of both are cut. */
  readonly pinned: string | undefined;
  readonly seen: string | undefined;
}

/** All places at which a definition differs from the pinned one. Nothing of a difference is left out: a server would put its change there. */
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
  const [left, right] = [membersOf(a), membersOf(b)];
  if (left && right && Array.isArray(a) === Array.isArray(b)) {
    for (const key of new Set([...left.keys(), ...right.keys()]))
      compare(`${path}${pointerOf([key])}`, left.get(key), right.get(key), found);
  } else if (JSON.stringify(a) !== JSON.stringify(b)) found.push({ path, ...shown(a, b) });
}

function membersOf(value: JsonValue | undefined): ReadonlyMap<string, JsonValue> | undefined {
  return typeof value === "object" && value !== null ? new Map(Object.entries(value)) : undefined;
}

/** JSON as a person has to see it, so that it is what a model reads: nothing is hidden, and nothing runs the other way. */
export function visibleJson(value: JsonValue, indent = 0): string {
  return visible(JSON.stringify(value, undefined, indent));
}

/** Equal characters that stay beside a difference. */
const CONTEXT = 80;

function shown(a: JsonValue | undefined, b: JsonValue | undefined): Pick<DefinitionDifference, "pinned" | "seen"> {
  const [pinned, seen] = [a, b].map((value) => (value === undefined ? undefined : visibleJson(value)));
  if (pinned === undefined || seen === undefined) return { pinned, seen };
  const shorter = Math.min(pinned.length, seen.length);
  let before = 0;
  while (before < shorter && pinned[before] === seen[before]) before++;
  let after = 0;
  while (after < shorter - before && pinned.at(-1 - after) === seen.at(-1 - after)) after++;
  const cut = (text: string): string =>
    `${equalPart(before)}${text.slice(from(before), text.length - from(after))}${equalPart(after)}`;
  return { pinned: cut(pinned), seen: cut(seen) };
}

/** Characters that are cut at one end. A short part is cheaper to read than the note in its place. */
function from(equal: number): number {
  return equal > 2 * CONTEXT ? equal - CONTEXT : 0;
}

function equalPart(equal: number): string {
  return from(equal) === 0 ? "" : `… (${from(equal)} equal characters) …`;
}
