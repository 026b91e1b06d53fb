import type { JsonValue } from "@keyhole/kernel";
import { saved as pageValues, type SavedKey, type SavedValues } from "./saved.ts";

const key: SavedKey = { area: "session", key: "keyhole.earlier-policies", what: "earlier policies" };
const most = 10;
/** All of them together: the browser gives a tab about five million. */
const mostCharacters = 1_000_000;

/** Policies that this tab replaced, the latest last. */
export function earlierPolicies(saved: SavedValues = pageValues): readonly JsonValue[] {
  try {
    const stored: unknown = JSON.parse(saved.read(key) ?? "[]");
    return Array.isArray(stored) ? (stored as readonly JsonValue[]) : [];
  } catch {
    return [];
  }
}

export function noteEarlierPolicy(policy: JsonValue, saved: SavedValues = pageValues): void {
  let kept = [...earlierPolicies(saved), policy].slice(-most);
  while (kept.length > 1 && JSON.stringify(kept).length > mostCharacters) kept = kept.slice(1);
  saved.write(key, JSON.stringify(kept));
}

/** The latest is in force again. */
export function dropEarlierPolicy(saved: SavedValues = pageValues): void {
  saved.write(key, JSON.stringify(earlierPolicies(saved).slice(0, -1)));
}
