import type { Families } from "../../capability/registry.ts";
import type { Hash } from "../../hash/hash.ts";
import { present } from "../../support/guards.ts";
import type { Decision, PolicyDocument, PolicyRule, RuleCondition, ToolGovernance } from "../document/policy.ts";
import type { StateRead } from "../proof/proof.ts";
import type { RuleErrorCode, Truth } from "./arguments.ts";
import { notPlainFault } from "./literals.ts";
import { type DecisionInput, holdsAll } from "./condition.ts";
import { type LoadedCount, type LoadedRule, loadRule } from "./rule.ts";
import { indexRules } from "./rule-index.ts";
import type { RuleSet, Tried } from "./rule-set.ts";
import { countRead } from "./state-reads.ts";
import type { JsonValue } from "../../json/json.ts";
import type { Opinion, ReadCounter, RuleCharge } from "./verdict.ts";

/** The rules of a checked document. */
export function loadRules(document: PolicyDocument, by: Hash, families: Families): RuleSet {
  const rules = (document.rules ?? []).map((rule) => loadRule(rule, families, by));
  const isAboutRequests = (rule: LoadedRule): boolean => rule.concerns !== undefined;
  const rates = Object.entries(document.tools ?? {}).flatMap((entry) => rateRule(entry, families, by));
  const calls = indexRules([...rules.filter((rule) => !isAboutRequests(rule)), ...rates]);
  const aboutRequests = rules.filter(isAboutRequests);
  const requests = indexRules(aboutRequests);
  return {
    rules,
    candidates: (input) => calls.candidates(input),
    tryRules: (input, readCounter) => tryRules(calls.candidates(input), input, readCounter),
    opinion: strictestOf,
    requestRules: (input) => requests.candidates(input).filter(({ tests }) => holdsAll(tests, input) !== false),
    hasTimedRequests: aboutRequests.some(hasTime),
    hasTimes: rules.some(hasTime),
    foreclose: (input) => calls.candidates(input).some((loaded) => deniesEveryCall(loaded, input)),
  };
}

const hasTime = ({ rule }: LoadedRule): boolean => rule.when.time !== undefined;

/** A tool's rate is a rule like any other, under a name that no author can give. */
export function rateRule(
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

/** Conditions that every call of one tool by one caller meets alike, as long as policy and mode stay. */
const ofEveryCall: readonly string[] = [
  "tool",
  "version",
  "category",
  "tier",
  "risk",
  "mode",
  "caller",
  "effects",
  "capability",
] satisfies (keyof RuleCondition)[];

function deniesEveryCall({ rule, count, tests }: LoadedRule, input: DecisionInput): boolean {
  if (rule.effect !== "deny" || count !== undefined) return false;
  const isOfEveryCall = Object.keys(rule.when).every((name) => ofEveryCall.includes(name));
  return isOfEveryCall && holdsAll(tests, input) === true;
}

function tryRules(candidates: readonly LoadedRule[], input: DecisionInput, readCounter: ReadCounter): Tried {
  const matching: LoadedRule[] = [];
  const errors: { ruleId: string; code: RuleErrorCode }[] = [];
  const counts: StateRead[] = [];
  const charges: RuleCharge[] = [];
  // Where rules name nothing but one argument, reading it for each was a third of a decision.
  let at: string | undefined;
  let value: JsonValue | undefined;
  for (const loaded of candidates) {
    const { only } = loaded;
    if (only !== undefined && only.at !== at) {
      at = only.at;
      value = only.read(input.input);
    }
    let truth: Truth;
    if (only === undefined) truth = holdsAll(loaded.tests, input);
    else truth = value === undefined ? only.ifAbsent : only.test(value, input);
    if (truth === false) continue;
    const { rule, count } = loaded;
    if (count) {
      const counted = tryCount(loaded, count, input, readCounter);
      if (counted.read) counts.push(counted.read);
      if (counted.charge) charges.push(counted.charge);
      if (truth === true) truth = counted.truth;
      if (truth === false) continue;
    }
    const error = truth === true ? undefined : truth;
    if (error !== undefined) errors.push({ ruleId: rule.id, code: error });
    if (error === undefined || rule.effect !== "allow") matching.push(loaded);
  }
  if (counts.length > 1) counts.sort((a, b) => (a.key < b.key ? -1 : 1));
  if (errors.length > 1) errors.sort((a, b) => (a.ruleId < b.ruleId ? -1 : 1));
  return { matching, considered: candidates.length, errors, counts, charges };
}

/** Charges under every outcome of the rule: the next call has to count this one. */
function tryCount(
  loaded: LoadedRule,
  { condition, read, holds }: LoadedCount,
  input: DecisionInput,
  readCounter: ReadCounter,
): { readonly truth: Truth; readonly read?: StateRead; readonly charge?: RuleCharge } {
  const amount = read ? read(input.input) : 1;
  if (typeof amount !== "number" || amount < 0) return { truth: "NOT_A_NUMBER" };
  const { windowMs, per = ["caller"] } = condition;
  const { caller, sessionId } = input;
  const names = { caller, session: sessionId, tool: input.manifest.name };
  // Each caller has its own sessions, and its share of all windows.
  const owner = per.includes("caller") || per.includes("session") ? caller : null;
  // Of the rule as its author names it: an edit of its limit, window, conditions or words frees nothing that was spent.
  const counted = [owner, loaded.rule.id, condition.sum ?? null, per, ...per.map((each) => names[each])];
  const window = { key: JSON.stringify(counted), windowMs };
  const before = readCounter(loaded, window);
  if (before === undefined) return { truth: "COUNTER_UNAVAILABLE" };
  return {
    truth: holds(before, amount),
    read: countRead(loaded.rule.id, before),
    charge: { ...window, amount, ruleHash: loaded.hash },
  };
}

function strictestOf({ matching, errors }: Tried, { input }: DecisionInput): Opinion {
  let decision: Decision = "allow";
  for (const { rule } of matching) {
    if (rule.effect === "deny") {
      decision = "deny";
      break;
    }
    if (rule.effect === "ask") decision = "ask";
  }
  const found: LoadedRule[] = [];
  for (const loaded of matching) if (loaded.rule.effect === decision) found.push(loaded);
  const deciding = byId(found);
  const errorOf = (loaded: LoadedRule): RuleErrorCode | undefined =>
    errors.find(({ ruleId }) => ruleId === loaded.rule.id)?.code;
  const loaded = (errors.length === 0 ? undefined : deciding.find((each) => !errorOf(each))) ?? present(deciding[0]);
  const error = errors.length === 0 ? undefined : errorOf(loaded);
  return {
    decision,
    reasonCode: loaded.isRate ? "rate" : error === undefined ? "rule" : "rule-error",
    reason:
      error === undefined
        ? loaded.rule.reason
        : `${loaded.rule.reason} (The rule failed with ${error}, so it applies.)`,
    notPlain: error === "NOT_PLAIN" ? notPlainFault(loaded.rule, input) : undefined,
    determining: deciding,
  };
}

/** The index gives most of them in this order already, which is cheaper to see than to make. */
function byId(rules: LoadedRule[]): readonly LoadedRule[] {
  let before = "";
  for (const { rule } of rules) {
    if (before > rule.id) return rules.sort((a, b) => (a.rule.id < b.rule.id ? -1 : 1));
    before = rule.id;
  }
  return rules;
}
