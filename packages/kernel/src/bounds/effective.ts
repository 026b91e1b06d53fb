import { ceilings, defaultBounds } from "../limits.ts";
import type { Bounds } from "./bounds.ts";

declare class Made {
  #effective: never;
}
/** Bounds in which a policy had its say, or of which code said that it has none. */
export interface EffectiveBounds extends Bounds, Made {}

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

/**
 * The bounds of one run: the tool's, or the defaults, never above a ceiling; policy and caller can only lower them.
 *
 * @param governed the policy's; a parameter of its own, so that no caller forgets it
 */
export function effectiveBounds(
  declared: Partial<Bounds>,
  governed: Partial<Bounds> | undefined,
  ...wishes: readonly (Partial<Bounds> | undefined)[]
): EffectiveBounds {
  return wishes.reduce(lowered, lowered(withDefaults(declared), governed)) as EffectiveBounds;
}

function lowered(before: Bounds, wished: Partial<Bounds> | undefined): Bounds {
  if (wished === undefined) return before;
  const bounds: { -readonly [Name in keyof Bounds]: Bounds[Name] } = { ...before };
  for (const name of names) {
    const wish = wished[name];
    const bound = before[name];
    if (typeof wish === "number" && wish >= 0 && (bound === undefined || wish < bound)) bounds[name] = wish;
  }
  return bounds;
}

const names = Object.keys(ceilings) as (keyof Bounds)[];
