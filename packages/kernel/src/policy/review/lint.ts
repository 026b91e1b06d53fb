import { hasOwn, isList } from "../../support/guards.ts";
import { canonicalJson } from "../../json/canonical-json.ts";
import type { JsonValue } from "../../json/json.ts";
import type { Capability } from "../../capability/capability.ts";
import { postureAnswer } from "../decision/decide.ts";
import type { Policy } from "../document/make.ts";
import { kindOf } from "../decision/plain-text.ts";
import { canShow, isAboutRequests } from "../decision/rule.ts";
import type { ArgumentCondition, Decision, PolicyRule, RuleCondition } from "../document/policy.ts";
import type { Tier } from "../../tool/manifest.ts";

/** A rule that does nothing, or that its author probably meant otherwise. */
export interface Finding {
  readonly kind: "shadowed" | "contradicting" | "never-matching" | "without-effect" | "incomplete";
  readonly ruleId: string;
  /** The other rule, where there is one. */
  readonly by: string | null;
  readonly message: string;
}

const strictness = { allow: 0, ask: 1, deny: 3 } as const satisfies Record<Decision, number>;

/** A passkey is more than an answer. */
const strictnessOf = ({ effect, approver }: PolicyRule): number =>
  effect === "ask" && approver === "passkey" ? 2 : strictness[effect];

/** Rules that are compared with each other, each with each; of more, only those with the same conditions. */
const comparedRules = 2_000;

/**
 * Finds doubtful parts of a valid policy. `tools` are the names of all tools, to find rules for
 * others. Each finding is true, and the list can be incomplete: conditions are compared by their
 * form.
 */
export function lintPolicy(policy: Policy, tools?: readonly string[]): readonly Finding[] {
  const rules = policy.rules.map(({ rule }) => rule);
  return [
    ...rules.flatMap((rule) => neverMatching(rule, policy, tools)),
    ...rules.flatMap((rule) => withoutEffect(rule, policy)),
    ...rules.flatMap((rule) => incomplete(rule, policy)),
    ...shadows(rules),
  ];
}

function neverMatching(
  { id, effect, when }: PolicyRule,
  policy: Policy,
  tools: readonly string[] | undefined,
): Finding[] {
  const never = (message: string): Finding[] => [{ kind: "never-matching", ruleId: id, by: null, message }];
  if (tools && when.tool?.every((tool) => !tools.includes(tool)))
    return never(`There is no tool ${when.tool.join(", ")}.`);
  const produced = new Set(
    (tools ?? Object.values(policy.document.labels ?? {}).flatMap((label) => label.tools ?? [])).flatMap((tool) =>
      policy.labelsOf(tool),
    ),
  );
  if (when.labels?.every((label) => !produced.has(label)))
    return never(`No tool's output carries ${when.labels.join(", ")}.`);
  const { families } = policy;
  const isShown = Array.from(families).some((family) => canShow(family, when, families));
  if (isAboutRequests(when, families) && !isShown)
    return never("No request is of a kind that could meet all of its conditions.");
  // A deny or an ask reads a value in every spelling, and matches where a condition errs.
  if (effect !== "allow") return [];
  for (const [at, conditions] of Map.groupBy(when.arguments ?? [], (condition) => condition.at)) {
    if (isImpossible(conditions)) return never(`No value at ${at || "the root"} fulfils all of its conditions.`);
  }
  return [];
}

function isImpossible(conditions: readonly ArgumentCondition[]): boolean {
  let least = -Infinity;
  let most = Infinity;
  let isOpen = false;
  let allowed: Set<string> | undefined;
  const only = (values: readonly JsonValue[]): void => {
    const texts = new Set(values.map(canonicalJson));
    allowed = allowed ? new Set([...allowed].filter((text) => texts.has(text))) : texts;
  };
  for (const condition of conditions) {
    if (hasOwn(condition, "equals")) only([condition.equals]);
    else if (hasOwn(condition, "in")) only(condition.in);
    else if (hasOwn(condition, "moreThan") || hasOwn(condition, "atLeast")) {
      least = Math.max(least, hasOwn(condition, "moreThan") ? condition.moreThan : condition.atLeast);
      isOpen ||= hasOwn(condition, "moreThan");
    } else if (hasOwn(condition, "lessThan") || hasOwn(condition, "atMost")) {
      most = Math.min(most, hasOwn(condition, "lessThan") ? condition.lessThan : condition.atMost);
      isOpen ||= hasOwn(condition, "lessThan");
    }
  }
  const excluded = new Set(
    conditions
      .flatMap((each) => (hasOwn(each, "differs") ? [each.differs] : hasOwn(each, "notIn") ? each.notIn : []))
      .map(canonicalJson),
  );
  if (allowed && [...allowed].every((text) => excluded.has(text))) return true;
  return least > most || (least === most && isOpen);
}

/** An allow or an ask where the posture denies, an allow where it allows anyway. */
function withoutEffect({ id, effect, when }: PolicyRule, policy: Policy): Finding[] {
  if (effect === "deny" || !when.tier) return [];
  const { posture } = policy.document;
  const answers = when.tier.map((tier: Tier) => postureAnswer(posture, tier));
  const message = `Posture ${posture} denies tier ${when.tier.join(", ")}, and no rule lifts that.`;
  return answers.every((answer) => answer === "deny")
    ? [{ kind: "without-effect", ruleId: id, by: null, message }]
    : [];
}

/** Denies of a place that others reach in ways that no deny knows. An allow-list need not know them. */
function incomplete({ id, effect, when }: PolicyRule, { document }: Policy): Finding[] {
  if (effect !== "deny") return [];
  const found = (message: string): Finding => ({ kind: "incomplete", ruleId: id, by: null, message });
  const letters = (when.arguments ?? []).flatMap((condition) => {
    const text = hasOwn(condition, "contains")
      ? condition.contains
      : hasOwn(condition, "endsWith")
        ? condition.endsWith
        : "";
    const isPlace = ["url", "path"].includes(kindOf(text));
    return isPlace
      ? [`${JSON.stringify(text)} is a place, and this compares letters. Use startsWith, hostIn or pathIn.`]
      : [];
  });
  const paths = (when.path ?? []).filter((path) => path.startsWith("/") && path !== "/");
  const numbered = paths.filter((path) => /\/\d+(?:\/|$)/.test(path));
  const numbers = numbered.map(
    (path) => `Servers find ${path} in other spellings of its number (007). Grant paths instead.`,
  );
  const routes =
    paths.length === 0 || document.grants?.some(({ capability }) => grantsPaths(capability)) ? [] : paths.slice(0, 1);
  const open = routes.map(
    (path) => `Servers can lead other paths (/index.php${path}) to ${path}. Grant paths instead.`,
  );
  return [...letters, ...numbers, ...open].map(found);
}

function grantsPaths(capability: Capability): boolean {
  const paths: unknown = new Map<string, unknown>(Object.entries(capability)).get("paths");
  return isList(paths) && paths.some((path) => typeof path === "string" && path.startsWith("/") && path !== "/");
}

/** Rules for which a rule at least as strict always matches too. */
function shadows(rules: readonly PolicyRule[]): Finding[] {
  const groups =
    rules.length <= comparedRules ? [rules] : [...Map.groupBy(rules, ({ when }) => canonicalJson(when)).values()];
  return groups.flatMap((group) => {
    const places = new Map(group.map((rule, place) => [rule, place]));
    // Of rules with the same conditions the first of each effect decides.
    const others = group === rules ? group : group.filter(isFirstOfEffect());
    return group.flatMap((rule, index): Finding[] => {
      const by = others.find((other) => {
        if (other === rule || strictnessOf(other) < strictnessOf(rule) || !includes(other.when, rule.when))
          return false;
        // Of two rules that say the same, the later one is the superfluous one.
        return (
          strictnessOf(other) !== strictnessOf(rule) || !includes(rule.when, other.when) || places.get(other)! < index
        );
      });
      if (!by) return [];
      const isSame = includes(rule.when, by.when);
      if (strictnessOf(by) === strictnessOf(rule))
        return [
          {
            kind: "shadowed",
            ruleId: rule.id,
            by: by.id,
            message: `For every call that it matches, ${by.id} matches with the same effect.`,
          },
        ];
      return [
        {
          kind: isSame ? "contradicting" : "shadowed",
          ruleId: rule.id,
          by: by.id,
          message: isSame
            ? `${by.id} says ${said(by)} to exactly the same calls, and wins.`
            : `For every call that it matches, ${by.id} matches too, says ${said(by)}, and wins.`,
        },
      ];
    });
  });
}

const said = ({ effect, approver }: PolicyRule): string =>
  approver === "passkey" ? `${effect} with a passkey` : effect;

function isFirstOfEffect(): (rule: PolicyRule) => boolean {
  const seen = new Set<number>();
  return (rule) => {
    const each = strictnessOf(rule);
    return !seen.has(each) && seen.add(each).has(each);
  };
}

/** Whether every call that meets `inner` meets `outer`, as far as the form of the conditions tells. */
function includes(outer: RuleCondition, inner: RuleCondition): boolean {
  return Object.entries(outer).every(([key, wanted]) => {
    const given = inner[key as keyof RuleCondition];
    if (given === undefined || wanted === undefined) return wanted === undefined;
    // Each rule counts what its other conditions match: with fewer of them it counts more, and runs out sooner.
    if (key === "count" && typeof wanted === "object" && hasOwn(wanted, "atMost"))
      return canonicalJson(outer) === canonicalJson(inner);
    if (key === "arguments") {
      const have = new Set((given as readonly ArgumentCondition[]).map((each) => canonicalJson(each)));
      return (wanted as readonly ArgumentCondition[]).every((each) => have.has(canonicalJson(each)));
    }
    if (isList(wanted) && isList(given)) {
      const known = new Set(wanted);
      return given.every((each) => known.has(each));
    }
    return canonicalJson(wanted as JsonValue) === canonicalJson(given as JsonValue);
  });
}
