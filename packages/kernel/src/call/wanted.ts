import type { OfKind } from "../capability/family.ts";
import type { RegisteredTool } from "../tool/package.ts";
import type { Target } from "../tool/targets.ts";

/**
 * What a tool that has not run yet asks for first, as the narrowest capability: the target that its arguments name, as far as it declares that; else what it declares, where that is
 * a single thing. Only ever an operator's suggestion: nothing is decided by it.
 */
export function wantedBy(
  { tool, targets }: { readonly tool: RegisteredTool; readonly targets: readonly Target[] },
  kind: string,
): OfKind | undefined {
  const wishes = tool.declared.filter((capability) => capability.kind === kind);
  const need = targets.find((target) => target.kind === kind)?.needs[0];
  const named = need && wishes.some((wish) => wish.covers(need, "wish")) ? need.narrowest() : undefined;
  const [only, other] = wishes;
  return (named ?? (only?.isNarrow && !other ? only : undefined))?.json;
}
