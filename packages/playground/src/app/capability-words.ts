import { builtInFamilies, type DeclaredCapability, type Determinism, type Families, visible } from "@keyhole/kernel";

/** The page names an effect of an unknown family by its kind, as visible text. */
export function effectText(effect: string, families: Families = builtInFamilies): string {
  return families.get(effect)?.title ?? visible(effect);
}

export function capabilityText(
  { optional, target: _, ...capability }: DeclaredCapability,
  families: Families = builtInFamilies,
): string {
  return visible(`${families.describe(capability)}${optional === true ? " (optional)" : ""}`);
}

export const determinismTexts = {
  pure: "Same input, same output",
  seeded: "Depends on the input and the call's seed",
  external: "Depends on the outside world",
  nondeterministic: "Any output at any time",
} as const satisfies Record<Determinism, string>;
