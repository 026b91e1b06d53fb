import type { LoadedCapability } from "../../capability/family.ts";
import type { Families } from "../../capability/registry.ts";
import type { Hash } from "../../hash/hash.ts";
import type { JsonObject } from "../../json/json.ts";
import { snapshot } from "../../json/snapshot.ts";
import type { Setup } from "../../result.ts";
import type { Validator } from "../../schema/index.ts";
import { requireValidator } from "../../schema/require.ts";
import { checkDocument } from "./check.ts";
import type { DecisionInput } from "../decision/condition.ts";
import { documentSchema } from "./schema.ts";
import { failingExample } from "./examples.ts";
import { invalidPolicy } from "./invalid.ts";
import type { GrantRule, PolicyDocument, PolicyRule, ToolGovernance } from "./policy.ts";
import { type LoadedRule, loadRule } from "../decision/rule.ts";
import { indexRules } from "../decision/rule-index.ts";
import { type PolicyVariables, resolveVariables } from "./variables.ts";

/** A policy that is ready to decide: checked, hashed, never changed. */
export interface Policy {
  /** The kinds that it can name. */
  readonly families: Families;
  /** With its variables filled in. */
  readonly document: PolicyDocument;
  readonly hash: string;
  /** As in the document. */
  readonly rules: readonly LoadedRule[];
  /** The rules about calls that could match. */
  candidates(input: DecisionInput): readonly LoadedRule[];
  /** The rules about requests that could match. */
  requestRules(input: DecisionInput): readonly LoadedRule[];
  governance(tool: string): ToolGovernance | undefined;
  /** What a caller is granted for a tool. */
  grants(tool: string, caller: string): readonly LoadedCapability[];
  /** Names of secrets, exact or as a pattern, that anybody is granted at a host. A wildcard takes every host here, as in a deny: more is searched for, not less. */
  readonly secretsAt: (host: string) => readonly string[];
  /** Sorted: what the outputs of a tool carry. */
  labelsOf(tool: string): readonly string[];
  /** Sorted. */
  readonly allLabels: readonly string[];
}

const validators = /* @__PURE__ */ new WeakMap<Families, Validator>();

function validatorOf(families: Families): Validator {
  const validator = validators.get(families) ?? requireValidator(documentSchema(families));
  validators.set(families, validator);
  return validator;
}

/** What stands where no policy is given: everything above tier 0 is asked about or denied, and nothing is granted. */
export const defaultPolicy: PolicyDocument = { version: "1", posture: "strict" };

/**
 * Checks a foreign document whole and makes a policy of it. `variables` are the values of `${NAME}` in its texts.
 *
 * @param by The algorithm of its digests.
 * @param families The kinds that it can name.
 */
export function loadPolicy(foreign: unknown, variables: PolicyVariables, by: Hash, families: Families): Setup<Policy> {
  const read = readDocument(foreign, variables, families);
  if (!read.ok) return read;
  const document = read.value;
  const rules = (document.rules ?? []).map((rule) => loadRule(rule, families, by));
  for (const [index, rule] of rules.entries()) {
    const failing = failingExample(rule, families);
    if (failing) return invalidPolicy(`/rules/${index}${failing.path}`, failing.message);
  }
  return { ok: true, value: makePolicy(document, rules, by, families) };
}

/** The document with its variables filled in, checked but for the examples of its rules. */
export function readDocument(foreign: unknown, variables: PolicyVariables, families: Families): Setup<PolicyDocument> {
  const plain = snapshot(foreign);
  if (!plain.ok) return invalidPolicy(plain.error.path, plain.error.message);
  const resolved = resolveVariables(plain.value, variables);
  if (!resolved.ok) return resolved;
  const valid = validatorOf(families).validate(resolved.value);
  if (!valid.ok) return invalidPolicy(valid.errors[0]!.instancePath, valid.errors[0]!.message, valid.errors[0]!.hint);
  // An editor's reference governs nothing: two files that differ in it alone are one policy.
  const { $schema: _, ...document } = valid.value as PolicyDocument;
  return checkDocument(document, families) ?? { ok: true, value: document };
}

function makePolicy(document: PolicyDocument, rules: readonly LoadedRule[], by: Hash, families: Families): Policy {
  const loaded = loadGrants(document, families);
  const grants = Map.groupBy(loaded, ({ tool }) => tool);
  const tools = new Map(Object.entries(document.tools ?? {}));
  const isAboutRequests = (rule: LoadedRule): boolean => rule.concerns !== undefined;
  const calls = indexRules([
    ...rules.filter((rule) => !isAboutRequests(rule)),
    ...[...tools].flatMap((entry) => rateRule(entry, families, by)),
  ]);
  const requests = indexRules(rules.filter(isAboutRequests));
  const labels = labelsByTool(document);
  const none: readonly LoadedGrant[] = [];
  return {
    families,
    document,
    hash: by.json(document as unknown as JsonObject),
    rules,
    candidates: (input) => calls.candidates(input),
    requestRules: (input) => requests.candidates(input),
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

/** Each was checked. */
function loadGrants({ grants = [] }: PolicyDocument, families: Families): readonly LoadedGrant[] {
  return grants.flatMap(({ capability, ...grant }) =>
    families.known([capability]).map((loaded) => ({ ...grant, capability: loaded })),
  );
}

/** A tool's rate is a rule like any other, under a name that no author can give. */
function rateRule(
  [tool, { rate }]: readonly [string, ToolGovernance],
  families: Families,
  by: Hash,
): readonly LoadedRule[] {
  if (!rate) return [];
  const { calls, windowMs, per } = rate;
  const rule: PolicyRule = {
    id: `tools/${tool}/rate`,
    effect: "deny",
    when: { tool: [tool], count: { windowMs, moreThan: calls, ...(per && { per }) } },
    reason: `The policy takes ${calls} calls of ${tool} in ${windowMs / 1_000} s.`,
  };
  return [{ ...loadRule(rule, families, by), isRate: true }];
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
