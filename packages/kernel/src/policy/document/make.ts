import type { LoadedCapability } from "../../capability/family.ts";
import type { Families } from "../../capability/registry.ts";
import type { Hash } from "../../hash/hash.ts";
import type { RuleSet } from "../decision/rule-set.ts";
import type { GrantRule, PolicyDocument, ToolGovernance } from "./policy.ts";

/** A policy that is ready to decide: checked, hashed, never changed. */
export interface Policy extends RuleSet {
  /** The kinds that it can name. */
  readonly families: Families;
  /** With its variables filled in. */
  readonly document: PolicyDocument;
  readonly hash: string;
  governance(tool: string): ToolGovernance | undefined;
  /** The grants of a caller for a tool. */
  grants(tool: string, caller: string): readonly LoadedCapability[];
  /**
   * Names of secrets, exact or as a pattern, that the policy grants to any caller at a host. A wildcard
   * matches every host here, as in a deny, so the kernel searches for more, not less.
   */
  readonly secretsAt: (host: string) => readonly string[];
  /** The labels of a tool's outputs, sorted. */
  labelsOf(tool: string): readonly string[];
  /** Sorted. */
  readonly allLabels: readonly string[];
}

/**
 * The policy of a kernel without one: it asks about or denies everything above tier 0, and grants
 * nothing.
 */
export const defaultPolicy: PolicyDocument = { version: "1", posture: "strict" };

/** Takes a document that was checked, and its rules. */
export function makePolicy(document: PolicyDocument, by: Hash, families: Families, ruleSet: RuleSet): Policy {
  const loaded = loadGrants(document, families);
  const grants = Map.groupBy(loaded, ({ tool }) => tool);
  const tools = new Map(Object.entries(document.tools ?? {}));
  const labels = labelsByTool(document);
  const none: readonly LoadedGrant[] = [];
  return {
    ...ruleSet,
    families,
    document,
    hash: by.json(document),
    governance: (tool) => tools.get(tool),
    grants: (tool, caller) =>
      [...(grants.get(tool) ?? none), ...(grants.get("*") ?? none)]
        .filter((grant) => grant.caller === undefined || grant.caller === caller)
        .map((grant) => grant.capability),
    secretsAt: (host) => loaded.flatMap(({ capability }) => capability.secretsAt(host)),
    labelsOf: (tool) => labels.get(tool) ?? [],
    allLabels: Object.keys(document.labels ?? {}).toSorted(),
  };
}

interface LoadedGrant extends Omit<GrantRule, "capability"> {
  readonly capability: LoadedCapability;
}

/** Each has passed its check. */
function loadGrants({ grants = [] }: PolicyDocument, families: Families): readonly LoadedGrant[] {
  return grants.flatMap(({ capability, ...grant }) =>
    families.known([capability]).map((loaded) => ({ ...grant, capability: loaded })),
  );
}

function labelsByTool({ labels = {} }: PolicyDocument): ReadonlyMap<string, readonly string[]> {
  const implied = new Map(Object.entries(labels).map(([label, { implies = [] }]) => [label, implies]));
  const closure = (label: string, into: Set<string>): Set<string> => {
    if (into.has(label)) return into;
    into.add(label);
    for (const next of implied.get(label) ?? []) closure(next, into);
    return into;
  };
  const byTool = new Map<string, Set<string>>();
  for (const [label, { tools = [] }] of Object.entries(labels)) {
    for (const tool of tools) {
      const known = byTool.get(tool) ?? new Set<string>();
      for (const each of closure(label, new Set())) known.add(each);
      byTool.set(tool, known);
    }
  }
  return new Map([...byTool].map(([tool, set]) => [tool, [...set].toSorted()]));
}
