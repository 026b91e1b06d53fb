import type { LoadedCapability } from "../capability/family.ts";
import type { Families } from "../capability/registry.ts";
import type { ToolManifest } from "./manifest.ts";

/** The capabilities of a manifest that was checked. Without `optional` and `target`, which say nothing of what may be touched. */
export function declaredBy(
  { capabilities }: Pick<ToolManifest, "capabilities">,
  families: Families,
): readonly LoadedCapability[] {
  return families.known(capabilities.map(({ optional: _, target: __, ...capability }) => capability));
}
