import { ceilings, defaultBounds } from "../limits.ts";
import type { Bounds } from "./bounds.ts";

/** The bounds of one call: the tool's, or the defaults, never above a ceiling; a caller can only lower them. */
export function effectiveBounds(declared: Partial<Bounds>, wished: Partial<Bounds> | undefined): Bounds {
  const bounds: Record<string, number> = { ...defaultBounds, ...declared };
  if (wished === undefined) return bounds as unknown as Bounds;
  for (const name of names) {
    const wish = wished[name];
    const bound = bounds[name];
    if (typeof wish === "number" && wish >= 0 && (bound === undefined || wish < bound)) bounds[name] = wish;
  }
  return bounds as unknown as Bounds;
}

const names = Object.keys(ceilings) as (keyof Bounds)[];
