import type { AuditLog } from "../audit/log.ts";
import type { Capability, CapabilityKind } from "../capability/capability.ts";
import { checkCapability } from "../capability/check.ts";
import { exampleCapability } from "../capability/describe.ts";
import { attenuate, type Grant, grantOf } from "../capability/grant.ts";
import type { Holder, Revocations } from "../capability/revocation.ts";
import { capabilitySchema } from "../capability/schema.ts";
import { isoTime } from "../id/time.ts";
import { uuidv7 } from "../id/uuid.ts";
import type { Clock } from "../isolate/clock.ts";
import { snapshot } from "../normalize/snapshot.ts";
import type { DecisionInput } from "../policy/condition.ts";
import type { Counters } from "../policy/counters.ts";
import { decide, type Verdict } from "../policy/decide.ts";
import type { Policy } from "../policy/load.ts";
import type { Proof } from "../policy/proof.ts";
import { decided, sealProof } from "../policy/seal.ts";
import { callReads } from "../policy/state-reads.ts";
import type { SessionLabels } from "../policy/session-labels.ts";
import { requireValidator } from "../schema/require.ts";
import type { Mode } from "../tool/manifest.ts";
import type { RegisteredTool } from "../tool/package.ts";
import type { Validated } from "./admit.ts";
import { next, type Step, type Stop, stop } from "./call.ts";

/** A call that knows all that it may do. */
export interface Granted extends Validated {
  readonly grant: Grant;
  readonly policy: Policy;
  readonly mode: Mode;
}

/** A call about which was decided; `proof` says how. */
export interface Decided extends Granted {
  readonly decisionInput: DecisionInput;
  readonly verdict: Verdict;
  readonly proof: Proof;
  /** Only where counts alone denied: how long until the first of them falls. */
  readonly retryAfterMs: number | undefined;
  /** Ends what the call was charged with. Whoever has a decision must settle it, on every way out. */
  readonly settle: (hasStarted: boolean) => void;
}

/** What a policy remembers of calls. */
export interface PolicyState {
  readonly counters: Counters;
  readonly labels: SessionLabels;
}

/** What the world looks like while one decision is made. */
export interface Authority {
  readonly policy: Policy;
  readonly mode: Mode;
}

const grantsValidator = requireValidator({ type: "array", items: capabilitySchema(), maxItems: 1_000 });

/** Step 3. */
export function checkCapabilities(
  state: Validated,
  authority: Authority,
  revocations: Pick<Revocations, "standing">,
  log: Pick<AuditLog, "record">,
  clock: Clock,
): Step<Granted> {
  const { call, tool } = state;
  const narrowed = readGrants(call.options.grants);
  if (!narrowed.ok) return narrowed;
  const { policy, mode } = authority;
  const granted = grantFor(policy, tool, call);
  const narrower = narrowed.state ? attenuate(granted, narrowed.state, call.hash) : granted;
  const grant = (call.layers ?? []).reduce((held, layer) => attenuate(held, layer, call.hash), narrower);
  const { kinds } = grant;
  const missing: CapabilityKind[] = [];
  for (const { optional, kind } of tool.manifest.capabilities)
    if (!optional && !kinds.includes(kind) && !missing.includes(kind)) missing.push(kind);
  log.record("capability.checked", call.scope, { grantHash: grant.hash, granted: kinds, missing });
  const checked: Granted = { ...state, grant, policy, mode };
  if (missing.length === 0) return revokedStop(checked, revocations, log, clock) ?? next(checked);
  const proof = prove(checked, { decision: "deny", reasonCode: "capability-denied" }, clock.now());
  log.record("policy.decided", call.scope, decided(proof));
  return stop(
    "CAPABILITY_DENIED",
    `${tool.id} needs ${missing.join(", ")}, which is not granted to ${JSON.stringify(call.caller)}.`,
    {
      details: { missing },
      hint: `Add a grant to the policy: ${JSON.stringify({ tool: tool.manifest.name, capability: exampleCapability(missing[0]!, tool.manifest.capabilities) })}`,
      proof,
    },
  );
}

/** The end of a call that needs a revoked grant. */
export function revokedStop(
  state: Granted,
  revocations: Pick<Revocations, "standing">,
  log: Pick<AuditLog, "record">,
  clock: Clock,
): Stop | undefined {
  const revoked = revokedFor(state, revocations);
  if (!revoked) return undefined;
  const proof = prove(state, { decision: "deny", reasonCode: "revoked" }, clock.now());
  log.record("policy.decided", state.call.scope, decided(proof));
  const message = `${state.tool.id} needs ${revoked.kind}, and the grant was revoked: ${revoked.reason}`;
  return stop("CAPABILITY_DENIED", message, { details: { revoked: revoked.kind }, proof });
}

/** The first capability that the tool cannot do without, and that is revoked. */
export function revokedFor(
  { call, tool }: Granted,
  revocations: Pick<Revocations, "standing">,
): { readonly kind: CapabilityKind; readonly reason: string } | undefined {
  for (const { kind, optional } of tool.manifest.capabilities) {
    const reason = optional ? undefined : revocations.standing(holderOf(call, tool), kind);
    if (reason !== undefined) return { kind, reason };
  }
  return undefined;
}

/** Whose grants they are that a call holds. */
export function holderOf({ callId, caller, sessionId, parent }: Validated["call"], tool: RegisteredTool): Holder {
  return { callId, caller, sessionId, tool: tool.manifest.name, parentCallId: parent?.call.callId };
}

/** By tool hash, then by caller: put together, the two would be one long text to hash in each call. */
const grantsOf = new WeakMap<Policy, Map<string, Map<string, Grant>>>();
/** Callers are foreign names: what is kept for them is bounded, per tool. */
const MAX_GRANTS = 1_000;

/** What a policy grants to one caller for one tool. Policies never change, so neither does this: it is hashed once, not in each call. */
function grantFor(policy: Policy, tool: RegisteredTool, { caller, hash }: Validated["call"]): Grant {
  let byTool = grantsOf.get(policy);
  if (!byTool) grantsOf.set(policy, (byTool = new Map<string, Map<string, Grant>>()));
  let known = byTool.get(tool.hash);
  if (!known) byTool.set(tool.hash, (known = new Map<string, Grant>()));
  let grant = known.get(caller);
  if (!grant) {
    const declared = tool.manifest.capabilities.map(({ optional: _, ...capability }) => capability as Capability);
    grant = grantOf(declared, [policy.grants(tool.manifest.name, caller)], hash);
    if (known.size >= MAX_GRANTS) known.clear();
    known.set(caller, grant);
  }
  return grant;
}

function readGrants(foreign: unknown): Step<readonly Capability[] | undefined> {
  if (foreign === undefined) return next(undefined);
  const plain = snapshot(foreign);
  const valid = plain.ok ? grantsValidator.validate(plain.value) : undefined;
  if (!valid?.ok)
    return stop("INVALID_INPUT", `The call's grants are malformed: ${valid?.errors[0]?.message ?? "not JSON"}.`);
  const capabilities = valid.value as readonly Capability[];
  const fault = capabilities.map(checkCapability).find((reason) => reason !== undefined);
  return fault ? stop("INVALID_INPUT", `The call's grants are malformed: ${fault.message}`) : next(capabilities);
}

/** Step 4. Always has a proof. `parentProofId` names the question whose arguments were edited; else it is the proof of the call from within which this one is made. */
export function decidePolicy(
  state: Granted,
  { counters, labels }: PolicyState,
  log: Pick<AuditLog, "record">,
  clock: Clock,
  parentProofId?: string,
): Decided {
  const { call, tool, policy, mode, input, inputBytes, grant } = state;
  const nowMs = clock.now();
  const decisionInput: DecisionInput = {
    manifest: tool.manifest,
    caller: call.caller,
    sessionId: call.sessionId,
    mode,
    input,
    inputBytes,
    granted: grant.kinds,
    nowMs,
    labels: labels.of(call.sessionId, policy.allLabels),
  };
  const verdict = decide(policy, decisionInput, (_, window) => counters.used(window.key));
  const proof = prove(state, verdict, nowMs, parentProofId);
  log.record("policy.decided", call.scope, decided(proof));
  // In the same turn in which the counters were read: no other call comes in between.
  const settle = counters.charge(verdict.decision === "deny" && verdict.enforced ? [] : verdict.charges);
  return { ...state, decisionInput, verdict, proof, settle, retryAfterMs: retryAfterMs(verdict, counters) };
}

function retryAfterMs({ decision, determining, charges }: Verdict, counters: Counters): number | undefined {
  if (decision !== "deny" || determining.length === 0 || !determining.every(({ count }) => count)) return undefined;
  const spent = charges.filter(({ ruleHash }) => determining.some(({ hash }) => hash === ruleHash));
  // One that could not be counted is no matter of time.
  return spent.length < determining.length ? undefined : Math.max(...spent.map((each) => counters.retryAfterMs(each)));
}

/** The proof of one decision about a call. */
export function prove(
  { call, tool, inputHash, grant, policy, mode }: Granted,
  verdict: Pick<Verdict, "decision" | "reasonCode"> & Partial<Verdict>,
  nowMs: number,
  parentProofId: string | null = call.parent?.proofId ?? null,
  approval: Proof["approval"] = null,
): Proof {
  const { decision, reasonCode, enforced = true, determining = [], errors = [], considered = 0 } = verdict;
  return sealProof(
    {
      proofId: uuidv7(nowMs),
      callId: call.callId,
      parentProofId,
      decidedAt: isoTime(nowMs),
      traceparent: call.traceparent,
      decision,
      enforced,
      reasonCode,
      tool: tool.id,
      toolHash: tool.hash,
      inputHash,
      grantHash: grant.hash,
      policyHash: policy.hash,
      policyVersion: policy.document.version,
      posture: policy.document.posture,
      mode,
      tier: tool.manifest.tier,
      ...(tool.normalizer && { normalizer: tool.normalizer.id }),
      determining:
        determining.length === 0 ? [] : determining.map(({ rule, hash }) => ({ ruleId: rule.id, ruleHash: hash })),
      errors,
      considered,
      stateReads: verdict.stateReads ?? callReads(call),
      obligations: verdict.obligations ?? [],
      approval,
    },
    call.hash,
  );
}
