import type { OfKind, OwnNeed } from "../capability/family.ts";
import { declares } from "../capability/grant.ts";
import type { Families } from "../capability/registry.ts";
import { isJsonArray, isJsonObject, type JsonValue } from "../json/json.ts";
import type { Setup } from "../result.ts";
import { declaredBy } from "./declared.ts";
import type { ToolManifest } from "./manifest.ts";
import { refused } from "./refused.ts";
import type { Target } from "./targets.ts";

const mostNeeds = 100;

/** The accesses that trusted code states, each a target of every call. The manifest declares each of them without `optional`: a grant covers nothing else. */
export function statedTargets(
  needs: JsonValue | undefined,
  { capabilities }: Pick<ToolManifest, "capabilities">,
  families: Families,
): Setup<readonly Target[]> {
  if (needs === undefined) return { ok: true, value: [] };
  if (!isJsonArray(needs) || needs.length > mostNeeds)
    return refused("/code/needs", `Got \`needs\` of another form, expected a list of at most ${mostNeeds} needs.`);
  const declared = declaredBy({ capabilities: capabilities.filter(({ optional }) => optional !== true) }, families);
  const targets: Target[] = [];
  for (const [index, json] of needs.entries()) {
    const need = readNeed(json, families);
    if (typeof need === "string") return refused(`/code/needs/${index}`, need);
    if (!declares({ declared }, need))
      return refused(
        `/code/needs/${index}`,
        `The tool does not declare ${need.kind} of ${need.target}.`,
        "List the capability in `capabilities`, without `optional`.",
      );
    targets.push({ kind: need.kind, needs: [need] });
  }
  return { ok: true, value: targets };
}

function readNeed(json: JsonValue, families: Families): OwnNeed | string {
  if (!isJsonObject(json) || typeof json["kind"] !== "string") return "The need names no kind.";
  try {
    return families.need(json as unknown as OfKind);
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
}
