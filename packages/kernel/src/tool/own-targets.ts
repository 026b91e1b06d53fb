import type { Need } from "../capability/capability.ts";
import type { OfKind } from "../capability/family.ts";
import { declares } from "../capability/grant.ts";
import type { Families } from "../capability/registry.ts";
import type { Setup } from "../result.ts";
import { declaredBy } from "./declared.ts";
import type { ToolManifest } from "./manifest.ts";
import { refused } from "./refused.ts";
import type { Target } from "./targets.ts";

/** The accesses that trusted code makes by itself, each a target of every call. The manifest declares each of them without `optional`: a grant covers nothing else. */
export function ownTargets(
  needs: readonly Need[],
  { capabilities }: Pick<ToolManifest, "capabilities">,
  families: Families,
): Setup<readonly Target[]> {
  const declared = declaredBy({ capabilities: capabilities.filter(({ optional }) => optional !== true) }, families);
  const targets = needs.map((need) => families.need(need as OfKind));
  const index = targets.findIndex((need) => !declares({ declared }, need));
  if (index < 0) return { ok: true, value: targets.map((need) => ({ kind: need.kind, needs: [need] })) };
  const { kind, target } = targets[index]!;
  return refused(
    `/code/needs/${index}`,
    `The tool does not declare ${kind} of ${target}.`,
    "List the capability in `capabilities`, without `optional`.",
  );
}
