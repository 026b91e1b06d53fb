import { present } from "../../support/guards.ts";
import type { Face } from "../../capability/matching/paths.ts";
import type { JsonValue } from "../../json/json.ts";
import type { Mode, ToolManifest } from "../../tool/manifest.ts";
import { holdsBack, letsThrough } from "../../tool/modes.ts";
import { parseRange, parseVersion } from "../../support/semver.ts";
import { compileArgument, type Truth } from "./arguments.ts";
import type { RuleCondition } from "../document/policy.ts";
import { compileTime } from "./time.ts";

/** The facts for rules before a call runs. */
export interface DecisionInput {
  readonly manifest: Pick<
    ToolManifest,
    "name" | "version" | "category" | "tier" | "risk" | "effects" | "modes" | "approval" | "body"
  >;
  readonly caller: string;
  readonly sessionId: string;
  readonly mode: Mode;
  /** Validated, defaults filled in. */
  readonly input: JsonValue;
  /** Of the canonical input. */
  readonly inputBytes: number;
  /** The granted kinds of the call. */
  readonly granted: readonly string[];
  /** The wall clock at the decision. */
  readonly nowMs: number;
  /** The labels of the session. */
  readonly labels: readonly string[];
}

export type ConditionTest = (input: DecisionInput) => Truth;

/** Whether a list names a value. The kernel looks up entries of long foreign lists, and does not walk them. */
function oneOf<T>(list: readonly T[], read: (input: DecisionInput) => T | undefined): ConditionTest {
  const [only] = list;
  if (list.length === 1) return (input) => read(input) === only;
  const known = new Set<T | undefined>(list);
  return (input) => known.has(read(input));
}

function anyOf<T>(list: readonly T[], read: (input: DecisionInput) => readonly T[]): ConditionTest {
  const known = new Set(list);
  return (input) => read(input).some((each) => known.has(each));
}

/**
 * The tests of a condition, cheap ones first. They omit the members that only a request shows
 * (`host`, `path`, `method`, and `capability` beside them) or only a counter (`count`).
 */
export function compileCondition(when: RuleCondition, isAboutRequests: boolean, face: Face): readonly ConditionTest[] {
  const tests: ConditionTest[] = [];
  const { tool, version, category, tier, risk, mode, caller, session, effects, capability, labels, time } = when;
  if (tool) tests.push(oneOf(tool, ({ manifest }) => manifest.name));
  if (caller) tests.push(oneOf(caller, (input) => input.caller));
  if (session) tests.push(oneOf(session, ({ sessionId }) => sessionId));
  if (mode) {
    const concerns = face === "deny" ? holdsBack : letsThrough;
    tests.push((input) => concerns(mode, input.mode));
  }
  if (tier) tests.push(oneOf(tier, ({ manifest }) => manifest.tier));
  if (risk) tests.push(oneOf(risk, ({ manifest }) => manifest.risk));
  if (category) tests.push(oneOf(category, ({ manifest }) => manifest.category));
  if (effects) tests.push(anyOf(effects, ({ manifest }) => manifest.effects));
  if (capability && !isAboutRequests) tests.push(anyOf<string>(capability, ({ granted }) => granted));
  if (labels) tests.push(anyOf(labels, (input) => input.labels));
  if (time) {
    const isWithin = compileTime(time);
    tests.push(({ nowMs }) => isWithin(nowMs));
  }
  if (version !== undefined) {
    const inRange = present(parseRange(version, face === "deny"));
    tests.push(({ manifest }) => {
      const parsed = parseVersion(manifest.version);
      return parsed !== undefined && inRange(parsed);
    });
  }
  for (const argument of when.arguments ?? []) {
    tests.push(compileArgument(argument, face));
  }
  return tests;
}

/** Whether all tests hold. One false test decides, also beside an undecided one. */
export function holdsAll(tests: readonly ConditionTest[], input: DecisionInput): Truth {
  let truth: Truth = true;
  for (const test of tests) {
    const each = test(input);
    if (each === false) return false;
    if (each !== true) truth = each;
  }
  return truth;
}
