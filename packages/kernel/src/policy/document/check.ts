import { isCategory, isToolName } from "../../support/tool-names.ts";
import type { Capability } from "../../capability/capability.ts";
import { type Condition, isGoverned } from "../../capability/family.ts";
import { areTexts, patternFault } from "../../capability/fields.ts";
import { checkHostPattern } from "../../capability/matching/hosts.ts";
import { checkGlob } from "../../capability/matching/paths.ts";
import type { Families } from "../../capability/registry.ts";
import type { Setup } from "../../result.ts";
import { readInstant } from "./instant.ts";
import { parseRange } from "../../support/semver.ts";
import { observersFault } from "./check-observers.ts";
import { passkeysFault } from "./check-passkeys.ts";
import { type DocumentFault, invalidPolicy } from "./invalid.ts";
import type {
  ArgumentCondition,
  GrantRule,
  PolicyDocument,
  PolicyRule,
  RuleExample,
  RuleCondition,
  TimeWindow,
  ToolGovernance,
} from "./policy.ts";
import { literalFault } from "../decision/literals.ts";
import { isAboutRequests } from "../decision/rule.ts";
import { hasOwn } from "../../support/guards.ts";

/** The checks beyond the schema, for a document with the right shape. */
export function checkDocument(document: PolicyDocument, families: Families): Setup<never> | undefined {
  const fault =
    firstOf(document.grants, "/grants", (grant) => checkGrant(grant, families)) ??
    checkIds(document.rules ?? []) ??
    firstOf(document.rules, "/rules", (rule) => checkRule(rule, families)) ??
    firstOf(Object.entries(document.tools ?? {}), "", ([name, governance]) =>
      at(`/tools/${name}`, listsFault(governance, families)),
    ) ??
    checkLabels(document) ??
    observersFault(document) ??
    passkeysFault(document);
  return fault && invalidPolicy(fault.path, fault.message, fault.hint);
}

/**
 * Refuses a malformed name, which no call could match: a grant with it gives nothing, a rule with
 * it denies nothing.
 */

function checkTool(tool: string): string | undefined {
  return isToolName(tool)
    ? undefined
    : "a tool's name has lower-case letters, digits and `_`; omit the list to mean every tool";
}

function checkCategory(category: string): string | undefined {
  return isCategory(category) ? undefined : "a category has lower-case letters, digits and `-`";
}

function checkSomebody(name: string): string | undefined {
  return name.includes("*") ? "callers and sessions have full names; omit the name to mean every caller" : undefined;
}

function checkGrant({ tool, caller, capability }: GrantRule, families: Families): DocumentFault | undefined {
  return (
    (tool === "*" ? undefined : one(tool, "/tool", checkTool)) ??
    (caller === undefined ? undefined : one(caller, "/caller", checkSomebody)) ??
    at("/capability", capabilityFault(capability, families))
  );
}

function capabilityFault(capability: Capability, families: Families): DocumentFault | undefined {
  const loaded = families.load(capability);
  return hasOwn(loaded, "kind") ? undefined : loaded;
}

function firstFault(
  patterns: readonly string[] = [],
  path: string,
  check: (pattern: string) => string | undefined,
): DocumentFault | undefined {
  return at(path, patternFault(patterns, check));
}

function one(name: string, path: string, check: (name: string) => string | undefined): DocumentFault | undefined {
  const fault = firstFault([name], "", check);
  return fault && { ...fault, path };
}

/** The first fault among some items; `path` is where they are, and is extended by the index unless it is empty. */
function firstOf<T>(
  items: readonly T[] = [],
  path: string,
  check: (item: T) => DocumentFault | undefined,
): DocumentFault | undefined {
  for (const [index, item] of items.entries()) {
    const fault = at(path && `${path}/${index}`, check(item));
    if (fault) return fault;
  }
  return undefined;
}

function at(path: string, fault: DocumentFault | undefined): DocumentFault | undefined {
  return fault && { ...fault, path: path + fault.path };
}

function checkIds(rules: readonly PolicyRule[]): DocumentFault | undefined {
  const seen = new Set<string>();
  for (const [index, { id }] of rules.entries()) {
    if (seen.has(id))
      return {
        path: `/rules/${index}/id`,
        message: `Two rules have the id ${JSON.stringify(id)}.`,
        hint: "Proofs name rules by id.",
      };
    seen.add(id);
  }
  return undefined;
}

function checkRule({ effect, when, examples = {} }: PolicyRule, families: Families): DocumentFault | undefined {
  const { version, time, count } = when;
  if (version !== undefined && !parseRange(version))
    return {
      path: "/when/version",
      message: `${JSON.stringify(version)} is not a version or range.`,
      hint: "Use 1.2.3, ^1.2.0, ~1.2.0 or 1.x.",
    };
  if (isAboutRequests(when, families)) {
    const hint = 'To decide before the call runs, use a condition on its arguments: { at: "/url", hostIn: [ … ] }.';
    if (effect !== "deny") return { path: "/effect", message: "A rule about requests can only deny.", hint };
    if (count)
      return { path: "/when/count", message: "A rule about requests does not count.", hint: "Bounds count requests." };
  }
  const lists = firstOf(Object.entries(listed), "", ([name, check]) =>
    firstFault(when[name as keyof typeof listed], `/${name}`, check),
  );
  return (
    at("/when", lists ?? requestFault(when, families)) ??
    firstOf(when.arguments, "/when/arguments", checkArgument) ??
    at("/when/time", time && checkTime(time)) ??
    firstOf(examples.match, "/examples/match", checkExampleTime) ??
    firstOf(examples.notMatch, "/examples/notMatch", checkExampleTime)
  );
}

function checkArgument(condition: ArgumentCondition): DocumentFault | undefined {
  if (hasOwn(condition, "hostIn")) return firstFault(condition.hostIn, "/hostIn", checkHostPattern);
  if (hasOwn(condition, "hostNotIn")) return firstFault(condition.hostNotIn, "/hostNotIn", checkHostPattern);
  if (hasOwn(condition, "pathIn")) return firstFault(condition.pathIn, "/pathIn", checkGlob);
  if (hasOwn(condition, "pathNotIn")) return firstFault(condition.pathNotIn, "/pathNotIn", checkGlob);
  const message = literalFault(condition);
  return message === undefined ? undefined : { path: "", message };
}

function checkInstant(instant: string): string | undefined {
  return readInstant(instant) !== undefined
    ? undefined
    : `${instant} is not a day of the calendar with a time from 00:00:00 to 23:59:59.`;
}

function checkExampleTime({ time }: RuleExample): DocumentFault | undefined {
  const message = time === undefined ? undefined : checkInstant(time);
  return message === undefined ? undefined : { path: "/time", message };
}

function checkTime({ from, to, after, before }: TimeWindow): DocumentFault | undefined {
  for (const [name, instant] of Object.entries({ after, before })) {
    const message = instant === undefined ? undefined : checkInstant(instant);
    if (message !== undefined) return { path: `/${name}`, message };
  }
  if (from === "24:00") return { path: "/from", message: "A day does not begin at 24:00." };
  // `to` alone counts from the beginning of the day.
  if (to !== undefined && to === (from ?? "00:00"))
    return { path: "/to", message: "A window that ends when it begins never holds." };
  return after !== undefined && before !== undefined && Date.parse(after) >= Date.parse(before)
    ? { path: "/before", message: "A window that ends before it begins never holds." }
    : undefined;
}

/** The check of each condition that is a list of names. */
const listed = {
  tool: checkTool,
  category: checkCategory,
  caller: checkSomebody,
  session: checkSomebody,
} as const satisfies Partial<Record<keyof RuleCondition, (pattern: string) => string | undefined>>;

/** The conditions about requests that a rule has. The first family whose form a pattern has checks it. */
function requestFault(when: RuleCondition, { conditions }: Families): DocumentFault | undefined {
  const lists = new Map<string, unknown>(Object.entries(when));
  return firstOf([...conditions], "", ([name, group]) => {
    const patterns = lists.get(name);
    return areTexts(patterns) ? firstFault(patterns, `/${name}`, checkOf(group)) : undefined;
  });
}

function checkOf(group: readonly Condition[]): (pattern: string) => string | undefined {
  return (pattern) => group.find(({ isOwn }) => isOwn(pattern))?.check(pattern);
}

/** Each list of a tool, checked as the condition about the same thing. */
function listsFault(governance: ToolGovernance, { conditions }: Families): DocumentFault | undefined {
  const lists = new Map<string, unknown>(Object.entries(governance));
  return firstOf([...conditions.values()].flat(), "", ({ list, check }) => {
    const governed = list && lists.get(list.name);
    if (!list || !isGoverned(governed)) return undefined;
    return at(
      `/${list.name}`,
      firstFault(governed.allowed, "/allowed", check) ?? firstFault(governed.forbidden, "/forbidden", check),
    );
  });
}

/** Labels that are used exist, and none implies itself. */
function checkLabels({ labels = {}, rules = [] }: PolicyDocument): DocumentFault | undefined {
  const known = new Map(Object.entries(labels));
  for (const [index, { when }] of rules.entries())
    for (const [place, label] of (when.labels ?? []).entries())
      if (!known.has(label))
        return {
          path: `/rules/${index}/when/labels/${place}`,
          message: `There is no label ${JSON.stringify(label)}, so the rule never matches.`,
          hint: `Labels: ${[...known.keys()].slice(0, 20).join(", ") || "none"}.`,
        };
  const done = new Set<string>();
  const walk = (label: string, trail: readonly string[]): DocumentFault | undefined => {
    if (trail.includes(label))
      return {
        path: `/labels/${label}/implies`,
        message: `The label implies itself: ${[...trail, label].join(" → ")}.`,
      };
    if (done.has(label) || trail.length > 64) return undefined;
    for (const [place, implied] of (known.get(label)?.implies ?? []).entries()) {
      const path = `/labels/${label}/implies/${place}`;
      if (!known.has(implied)) return { path, message: `There is no label ${JSON.stringify(implied)}.` };
      if (trail.length === 64) return { path, message: "Labels imply each other in more than 64 steps." };
      const fault = walk(implied, [...trail, label]);
      if (fault) return fault;
    }
    done.add(label);
    return undefined;
  };
  for (const [label, { tools }] of known) {
    const fault = firstFault(tools, `/labels/${label}/tools`, checkTool) ?? walk(label, []);
    if (fault) return fault;
  }
  return undefined;
}
