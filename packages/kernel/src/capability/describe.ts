import type { LoadedCapability } from "./family.ts";
import type { Grant } from "./grant.ts";

/**
 * Describes a grant, one line per kind. It does not intersect patterns: where two layers differ, it
 * names both, the later one first.
 */
export function describeGrant({ declared, layers, kinds }: Grant): readonly string[] {
  return kinds.map((kind) => {
    const ofKind = [declared, ...layers]
      .map((layer) => layer.filter((capability) => capability.kind === kind))
      .filter((layer, index) => index > 0 || !layer.some(isWhole));
    const texts = ofKind.map((layer) => [...new Set(layer.map((each) => each.describe()))].toSorted().join(" or "));
    return [...new Set(texts.toReversed())].join(", within ");
  });
}

/** A wish for everything of its kind says nothing about what is granted. */
function isWhole({ json }: LoadedCapability): boolean {
  const { kind: _, ...constraints } = json;
  const values: readonly unknown[] = Object.values(constraints);
  const [only] = values;
  return values.length === 1 && Array.isArray(only) && (only.includes("*") || only.includes("**"));
}
