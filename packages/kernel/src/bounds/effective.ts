import { ceilings, defaultBounds } from "../limits.ts";
import type { Bounds } from "./bounds.ts";

const declaredBounds = new WeakMap<Partial<Bounds>, Bounds>();

/**
 * The declared bounds of a tool with the defaults, made once per tool. Shared, so no code may
 * change it.
 */
function withDefaults(declared: Partial<Bounds>): Bounds {
  let bounds = declaredBounds.get(declared);
  if (!bounds) declaredBounds.set(declared, (bounds = Object.freeze({ ...defaultBounds, ...declared })));
  return bounds;
}

/** The bounds of one call: the tool's, or the defaults, never above a ceiling; policy and caller can only lower them. */
export function effectiveBounds(
  declared: Partial<Bounds>,
  ...wishes: readonly (Partial<Bounds> | undefined)[]
): Bounds {
  let bounds = withDefaults(declared);
  for (const wished of wishes) if (wished !== undefined) bounds = lowered(bounds, wished);
  return bounds;
}

function lowered(before: Bounds, wished: Partial<Bounds>): Bounds {
  const bounds: { -readonly [Name in keyof Bounds]: Bounds[Name] } = { ...before };
  for (const name of names) {
    const wish = wished[name];
    const bound = before[name];
    if (typeof wish === "number" && wish >= 0 && (bound === undefined || wish < bound)) bounds[name] = wish;
  }
  return bounds;
}

const names = Object.keys(ceilings) as (keyof Bounds)[];
