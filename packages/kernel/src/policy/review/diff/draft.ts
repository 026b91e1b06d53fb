import type { LoadedCapability, OfKind, OwnNeed } from "../../../capability/family.ts";
import type { Families } from "../../../capability/registry.ts";
import { canonicalJson } from "../../../json/canonical-json.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../../json/json.ts";
import { pointerTokens } from "../../../json/pointer.ts";
import type { Mode, Risk, Tier } from "../../../tool/manifest.ts";
import type { DecisionInput } from "../../decision/condition.ts";
import { type CallVerdict, decideCall } from "../../decision/decide-targets.ts";
import type { Policy } from "../../document/make.ts";
import type { RuleCondition } from "../../document/policy.ts";
import { declarationFor } from "./needs.ts";

/** An invented call that tries two policies: one value in each dimension. */
export interface Draft {
  readonly tool: string;
  readonly version: string;
  readonly category?: string;
  readonly tier: Tier;
  readonly risk?: Risk;
  readonly caller: string;
  readonly session: string;
  readonly mode: Mode;
  /** Kinds that the tool lists as effects only, and those that it declares. */
  readonly kinds: ReadonlyMap<string, "listed" | "declared">;
  readonly labels: ReadonlySet<string>;
  /** By JSON Pointer. */
  readonly arguments: ReadonlyMap<string, JsonValue>;
  readonly nowMs: number;
  /** The input has at least so many bytes. */
  readonly inputBytes: number;
  /** Counts before the call, by {@link counterOf}. Default 0. */
  readonly counts: ReadonlyMap<string, number>;
  /** The request of the call, as a need. */
  readonly request?: OfKind;
}

/** The mildest call. It meets no condition by chance. */
export const mildest: Draft = {
  tool: "example",
  version: "1.0.0",
  tier: 0,
  caller: "anonymous",
  session: "example",
  mode: "NORMAL",
  kinds: new Map(),
  labels: new Set(),
  arguments: new Map(),
  nowMs: Date.UTC(2026, 0, 1),
  inputBytes: 0,
  counts: new Map(),
};

/** A draft with one value of an argument; `undefined` for none. */
export function withArgument(draft: Draft, pointer: string, value: JsonValue | undefined): Draft {
  const given = new Map(draft.arguments);
  if (value === undefined) given.delete(pointer);
  else given.set(pointer, value);
  return { ...draft, arguments: given };
}

/** Counters that count the same calls: their limits may differ. */
export function counterOf({ count, ...others }: RuleCondition): string {
  const { windowMs, per = ["caller"], sum = null } = count ?? { windowMs: 0 };
  return canonicalJson({ ...others, count: { windowMs, per: [...per], sum } } as unknown as JsonValue);
}

/** The input in which the arguments stand at their places. */
export const inputOf = (draft: Pick<Draft, "arguments">): JsonValue => measuredInputOf(draft).input;

interface MeasuredInput {
  readonly input: JsonValue;
  /** Of the canonical input. */
  readonly bytes: number;
}

const encoder = new TextEncoder();

/** Most drafts share their arguments with others. */
const measured = new WeakMap<Draft["arguments"], MeasuredInput>();

function measuredInputOf({ arguments: given }: Pick<Draft, "arguments">): MeasuredInput {
  const known = measured.get(given);
  if (known) return known;
  let input: JsonValue = {};
  for (const [pointer, value] of [...given].toSorted(([a], [b]) => a.length - b.length))
    input = withMember(input, pointerTokens(pointer), value);
  const made: MeasuredInput = { input, bytes: encoder.encode(canonicalJson(input)).length };
  measured.set(given, made);
  return made;
}

function withMember(into: JsonValue | undefined, [token, ...others]: readonly string[], value: JsonValue): JsonValue {
  if (token === undefined) return value;
  if (isJsonArray(into) && /^\d+$/.test(token))
    return Object.assign([...into], { [Number(token)]: withMember(into[Number(token)], others, value) });
  const known: JsonObject = isJsonObject(into) ? into : {};
  const member = Object.hasOwn(known, token) ? known[token] : undefined;
  return Object.fromEntries([
    ...Object.entries(known).filter(([name]) => name !== token),
    [token, withMember(member, others, value)],
  ]);
}

const inputs = new WeakMap<Policy, WeakMap<Draft, DecisionInput>>();

/** The facts of a draft for rules. Made once, for many conditions. */
export function decisionInputOf(draft: Draft, policy: Policy): DecisionInput {
  const known = inputs.get(policy) ?? new WeakMap<Draft, DecisionInput>();
  inputs.set(policy, known);
  const input = known.get(draft) ?? makeInput(draft, policy);
  known.set(draft, input);
  return input;
}

function makeInput(draft: Draft, policy: Policy): DecisionInput {
  const { tool: name, version, tier, category, risk, caller, mode, nowMs } = draft;
  const { input, bytes } = measuredInputOf(draft);
  const declared = declaredKinds(draft);
  const given = new Set(declared.length === 0 ? [] : policy.grants(name, caller).map(({ kind }) => kind));
  const { effects } = policy.families;
  const listed = [...draft.kinds.keys(), ...declared].filter((kind) => effects.includes(kind));
  return {
    manifest: {
      name,
      version,
      tier,
      // Each is a kind of this kernel that is an effect.
      effects: [...new Set(listed)] as unknown as DecisionInput["manifest"]["effects"],
      ...(category !== undefined && { category }),
      ...(risk && { risk }),
    },
    caller,
    sessionId: draft.session,
    mode,
    input,
    inputBytes: Math.max(draft.inputBytes, bytes),
    granted: declared.filter((kind) => given.has(kind)),
    nowMs,
    labels: policy.allLabels.filter((label) => draft.labels.has(label)),
  };
}

function declaredKinds({ kinds, request }: Draft): readonly string[] {
  const declared = [...kinds].flatMap(([kind, how]) => (how === "declared" ? [kind] : []));
  return [...new Set([...declared, ...(request ? [request.kind] : [])])];
}

interface LoadedRequest {
  readonly need: OwnNeed;
  /** By the tool that makes it. */
  readonly declared: readonly LoadedCapability[];
}

const requests = new WeakMap<Families, WeakMap<OfKind, LoadedRequest>>();

function loadedRequestOf(request: OfKind, { families }: Policy): LoadedRequest {
  const known = requests.get(families) ?? new WeakMap<OfKind, LoadedRequest>();
  requests.set(families, known);
  const loaded = known.get(request) ?? {
    need: families.need(request),
    declared: families.known([declarationFor(request)]),
  };
  known.set(request, loaded);
  return loaded;
}

/** The kernel's own decision about a draft: the only one there is. */
export function decideDraft(policy: Policy, draft: Draft): CallVerdict {
  const input = decisionInputOf(draft, policy);
  const { tool, caller, request } = draft;
  const { need, declared } = request ? loadedRequestOf(request, policy) : { need: undefined, declared: [] };
  const grant = {
    declared,
    layers: [policy.grants(tool, caller)],
    hash: "",
    kinds: input.granted,
    sources: [],
  };
  const targets = need ? [{ kind: need.kind, needs: [need] as const }] : [];
  const counted = ({ rule }: { readonly rule: { readonly when: RuleCondition } }): number =>
    draft.counts.get(counterOf(rule.when)) ?? 0;
  return decideCall(policy, input, counted, { targets, grant, holder: { tool, caller, hasOwnGrants: false } });
}

/** From the mildest: 0 allow, 1 ask, 2 ask for a passkey, 3 deny. */
export type Level = 0 | 1 | 2 | 3;

/** The level of a verdict for the caller. */
export function levelOf({ decision, enforced, obligations }: CallVerdict): Level {
  if (!enforced || decision === "allow") return 0;
  if (decision === "deny") return 3;
  return obligations.includes("passkey") ? 2 : 1;
}
