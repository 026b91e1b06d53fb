import { policy as policyOf, readVersionedId } from "@keyhole/kernel";
import type { Capability, GrantRule, PolicyDocument, PolicyRule, Posture, Tier, ToolManifest } from "@keyhole/kernel";
import { counted } from "../../io.ts";
import { leastCapabilities, type Suggested } from "./least-capabilities.ts";
import type { RecordedCall, RecordedCalls } from "./recorded-calls.ts";

export interface LeastPolicy {
  readonly posture: Suggested<Posture>;
  readonly grants: readonly Suggested<GrantRule>[];
  readonly rules: readonly Suggested<PolicyRule>[];
  /** Facts that the log lacks. */
  readonly untold: readonly string[];
}

export function documentOf({ posture, grants, rules }: LeastPolicy): PolicyDocument {
  return {
    version: "1",
    posture: posture.value,
    ...(grants.length > 0 && { grants: grants.map(({ value }) => value) }),
    ...(rules.length > 0 && { rules: rules.map(({ value }) => value) }),
  };
}

/** Calls of one tool and caller. */
interface Group {
  readonly name: string;
  readonly caller: string;
  readonly calls: readonly RecordedCall[];
  readonly tier: Tier | undefined;
  /** Kinds that the tool starts without; `undefined` where its manifest is not known. */
  readonly optional: ReadonlySet<string> | undefined;
}

/**
 * The least policy under which all calls of a log pass that passed: it allows an allowed call, and asks about a call that a person allowed.
 *
 * @param manifests by the tools' names, as far as they are known
 */
export function leastPolicy({ started }: RecordedCalls, manifests: ReadonlyMap<string, ToolManifest>): LeastPolicy {
  const { said: groups = [], unsaid = [] } = Object.groupBy(groupsOf(started, manifests), (group) =>
    isSayable(group) ? "said" : "unsaid",
  );
  const untold = unsaid.map(
    ({ name, caller }) => `Calls of ${JSON.stringify(name)} by ${JSON.stringify(caller)}: a policy cannot name them.`,
  );
  const tiers = groups.map(({ tier }) => tier);
  const posture = postureOf(tiers);
  const grants = groups.flatMap((group) => grantsOf(group, untold));
  const rules = withOwnIds(groups.flatMap((group) => ruleOf(group, posture.value, untold)));
  for (const { name, tier } of groups) {
    if (tier === 4) untold.push(`${name} has tier 4, which no posture runs.`);
    if (tier === undefined) untold.push(`The tier of ${name}. Name its file with --tools.`);
  }
  if (started.length > 0)
    untold.push("Arguments: the log holds digests of them, so no rule has a condition about one.");
  return { posture, grants, rules, untold: [...new Set(untold)] };
}

/** Names of a log are foreign: `*` would be every tool, and one name that a policy refuses would stop the whole verb. */
function isSayable({ name, caller }: Group): boolean {
  const grants = [{ tool: name, caller, capability: { kind: "clock" } }];
  return name !== "*" && policyOf({ version: "1", posture: "strict", grants }).ok;
}

/** Names that differ can give one id: the later rule has a number behind it. */
function withOwnIds(rules: readonly Suggested<PolicyRule>[]): readonly Suggested<PolicyRule>[] {
  const taken = new Set<string>();
  return rules.map(({ value, comment }) => {
    let { id } = value;
    for (let count = 2; taken.has(id); count++) id = `${value.id}-${count}`;
    taken.add(id);
    return { value: { ...value, id }, comment };
  });
}

function groupsOf(started: readonly RecordedCall[], manifests: ReadonlyMap<string, ToolManifest>): readonly Group[] {
  const calls = new Map<string, RecordedCall[]>();
  for (const call of started) {
    const key = JSON.stringify([readVersionedId(call.tool).name, call.caller]);
    calls.set(key, [...(calls.get(key) ?? []), call]);
  }
  return [...calls]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, own]) => {
      const [name, caller] = JSON.parse(key) as [string, string];
      const manifest = manifests.get(name);
      const wishes = manifest?.capabilities.filter(({ optional }) => optional === true).map(({ kind }) => kind);
      const tier = manifest?.tier ?? own.find((call) => call.tier !== undefined)?.tier;
      return { name, caller, calls: own, tier, optional: wishes && new Set(wishes) };
    });
}

/** `strict` asks about tiers 1 and 2 and denies tier 3, which `standard` asks about. */
function postureOf(tiers: readonly (Tier | undefined)[]): Suggested<Posture> {
  if (tiers.some((tier) => tier !== undefined && tier >= 3))
    return { value: "standard", comment: "strict denies tools of tier 3." };
  if (tiers.includes(undefined))
    return { value: "standard", comment: "A tool's tier is unknown; strict could deny it." };
  return { value: "strict", comment: "Tools without an entry below start without a question only at tier 0." };
}

function grantsOf({ name, caller, calls, optional }: Group, untold: string[]): readonly Suggested<GrantRule>[] {
  const used = new Set(calls.flatMap(({ uses }) => uses.map(({ kind }) => kind)));
  const kinds = new Set(calls.flatMap(({ granted }) => granted));
  return [...kinds].sort().flatMap((kind) => {
    const isSilent = kind === "clock" || kind === "random";
    if (!used.has(kind) && !isSilent && optional?.has(kind) === true) return [];
    const least = leastCapabilities(kind, calls);
    if (least === undefined) {
      untold.push(`The capability of kind ${kind} for ${name}: this command does not know the kind.`);
      return [];
    }
    if (least.unsaid.length > 0) untold.push(unsaidText(kind, name, caller, least.unsaid));
    return least.capabilities.map(({ value, comment }: Suggested<Capability>) => ({
      value: { tool: name, caller, capability: value },
      comment,
    }));
  });
}

const mostNamed = 10;

function unsaidText(kind: string, name: string, caller: string, unsaid: readonly string[]): string {
  const named = unsaid.slice(0, mostNamed).map((each) => JSON.stringify(each));
  const more = unsaid.length > mostNamed ? ` and ${unsaid.length - mostNamed} more` : "";
  const why = kind === "process.spawn" ? "The log holds no arguments of commands" : "No grant says them literally";
  return `A grant of ${kind} for ${name} by ${caller}: ${named.join(", ")}${more}. ${why}: write the grant yourself.`;
}

/** Whether a posture asks about a tier. */
const asks: Readonly<Record<Posture, readonly boolean[]>> = {
  strict: [false, true, true],
  standard: [false, false, true, true],
  permissive: [false, false, false, true],
};

/** The rule that makes the posture's answer the recorded one, where they differ. */
function ruleOf(
  { name, caller, calls, tier }: Group,
  posture: Posture,
  untold: string[],
): readonly Suggested<PolicyRule>[] {
  const asked = calls.filter(({ wasAsked }) => wasAsked).length;
  const byPosture = tier === undefined ? undefined : (asks[posture][tier] ?? false);
  const effect = asked > 0 ? "ask" : "allow";
  if (asked > 0 && asked < calls.length)
    untold.push(
      `The kernel asked a person about ${asked} of ${calls.length} calls of ${name} by ${caller}. The log does not say by which arguments, so the policy asks about all.`,
    );
  if (byPosture === (effect === "ask")) return [];
  const rule: PolicyRule = {
    id: `${effect}-${name}-${caller}`.replaceAll(/[^a-zA-Z0-9_.-]+/g, "-"),
    effect,
    when: { tool: [name], caller: [caller] },
    reason: effect === "ask" ? "A person allowed the recorded calls." : "The recorded calls needed no person.",
  };
  return [{ value: rule, comment: `${counted(calls.length, "call")}.` }];
}
