import { readVersionedId, versionedId } from "../../support/tool-names.ts";
import type { Families } from "../../capability/registry.ts";
import { attenuate, type Grant, grantOf } from "../../capability/grant.ts";
import { canonicalJson } from "../../json/canonical-json.ts";
import { blake3Hash } from "../../hash/blake3-hash.ts";
import type { Hash } from "../../hash/hash.ts";
import { hashOf } from "../../hash/hash-by-algorithm.ts";
import type { JsonObject, JsonValue } from "../../json/json.ts";
import type { Verdict } from "../decision/verdict.ts";
import { type CallVerdict, decideCall } from "../decision/decide-targets.ts";
import { checkPolicy } from "../document/load.ts";
import type { Policy } from "../document/make.ts";
import { isAnswer, type Proof } from "../proof/proof.ts";
import {
  callerIn,
  callReads,
  countIn,
  labelsOf,
  labelsTextIn,
  sessionIn,
  type StateReads,
} from "../decision/state-reads.ts";
import { declaredBy } from "../../tool/declared.ts";
import { neededKinds, targetArguments, targetsIn } from "../../tool/targets.ts";
import { manifestHash, packageHash } from "../../tool/hash.ts";
import { passkeyFault } from "./passkeys.ts";
import type { ProofEvidence, ToolEvidence } from "./proof-evidence.ts";

/** Plain data of this process alone. */
export type Evidence = Omit<ProofEvidence, "families"> & Required<Pick<ProofEvidence, "policy" | "tool" | "input">>;

/**
 * The first field in which a fresh decision differs from the proof.
 *
 * @param decisive The proof that has the decision: of the question, for the answer to one.
 */
export async function reevaluationFault(
  proof: Proof,
  evidence: Evidence,
  decisive: Proof,
  families: Families,
): Promise<string | undefined> {
  const by = hashOf(proof.hash) ?? blake3Hash;
  const loaded = checkPolicy(evidence.policy, by, families);
  if (!loaded.ok) return `The policy is invalid: ${loaded.error.message}`;
  const policy = loaded.value;
  if (decisive !== proof && decisive.proofId !== proof.parentProofId && proof.approval?.scope === "once")
    return "The proof names another approval request.";
  const grant = grantFor(proof, evidence, policy, by);
  const verdict = verdictOf(proof, Date.parse(decisive.decidedAt), evidence, policy, grant);
  if (decisive !== proof && verdict.decision !== "ask")
    return `No question was necessary: the policy says ${verdict.decision}.`;
  const fresh = {
    ...outcomeOf(proof, verdict),
    ...contextOf(evidence, policy, by),
    grantHash: grant.hash,
    ...groundsOf(verdict),
  };
  return differenceFault(proof, fresh) ?? bindingFault(proof, evidence) ?? (await passkeyFault(proof, policy));
}

/** The first part of incomplete evidence that is another than the proof names. */
export function bindingsFault(
  proof: Proof,
  { policy, tool, input }: Partial<Evidence>,
  families: Families,
): string | undefined {
  const by = hashOf(proof.hash) ?? blake3Hash;
  const loaded = policy === undefined ? undefined : checkPolicy(policy, by, families);
  if (loaded?.ok === false) return `The policy is invalid: ${loaded.error.message}`;
  return differenceFault(proof, {
    ...(tool !== undefined && { tool: versionedId(tool.manifest), toolHash: toolHashOf(tool, by) ?? "" }),
    ...(input !== undefined && { inputHash: by.text(canonicalJson(input)) }),
    ...(loaded && { policyHash: loaded.value.hash }),
  });
}

function grantFor(proof: Proof, { tool: { manifest }, grants }: Evidence, policy: Policy, by: Hash): Grant {
  const caller = String(callerIn(proof.stateReads));
  const { families } = policy;
  const granted = grantOf(declaredBy(manifest, families), [policy.grants(manifest.name, caller)], by);
  return grants ? attenuate(granted, families.known(grants), by) : granted;
}

type FreshVerdict = Partial<CallVerdict> & Pick<CallVerdict, "decision" | "reasonCode">;

function verdictOf(
  proof: Proof,
  nowMs: number,
  { tool: { manifest }, input, grants }: Evidence,
  policy: Policy,
  grant: Grant,
): FreshVerdict {
  const { mode, reasonCode, stateReads } = proof;
  const granted = grant.kinds;
  const read = targetsIn(input, targetArguments(manifest, policy.families));
  // The kernel refuses such an input before any decision.
  if (!read.ok) return { decision: "deny", reasonCode: "target-denied" };
  const { targets } = read;
  if (neededKinds(manifest, targets).some((kind) => !granted.includes(kind)))
    return { decision: "deny", reasonCode: "capability-denied", stateReads: callOnly(stateReads) };
  // A revocation, and the request that was refused, are for the log to show; that the call had to stop then follows.
  if (reasonCode === "revoked" || reasonCode === "request-denied")
    return { decision: "deny", reasonCode, stateReads: callOnly(stateReads) };
  const caller = String(callerIn(stateReads));
  const decisionInput = {
    manifest,
    caller,
    sessionId: String(sessionIn(stateReads)),
    mode,
    input,
    inputBytes: new TextEncoder().encode(canonicalJson(input)).length,
    granted,
    nowMs,
    labels: labelsOf(labelsTextIn(stateReads) ?? ""),
  };
  const holder = { tool: manifest.name, caller, hasOwnGrants: grants !== undefined };
  const asked = { targets, grant, holder };
  const verdict = decideCall(policy, decisionInput, ({ rule }) => countIn(stateReads, rule.id), asked);
  return deniedByStated(proof, manifest, verdict) ?? verdict;
}

/**
 * No manifest has the accesses that trusted code states. That one of them was refused is for the log to show, and a call that was denied so can have been allowed
 * without them. Only a tool of source `inline` has such code, and it declares the kind.
 */
function deniedByStated(
  { reasonCode, request }: Proof,
  { source, capabilities }: Evidence["tool"]["manifest"],
  verdict: CallVerdict,
): FreshVerdict | undefined {
  const isStated = reasonCode === "target-denied" && source === "inline" && verdict.reasonCode !== reasonCode;
  if (!isStated || !request || (verdict.decision === "deny" && verdict.enforced)) return undefined;
  if (!capabilities.some(({ kind, optional }) => kind === request.kind && optional !== true)) return undefined;
  return { ...verdict, decision: "deny", enforced: true, reasonCode, determining: [], obligations: [], request };
}

/** Without a decision by rules, a proof names the caller and the session alone. */
function callOnly(stateReads: StateReads): Verdict["stateReads"] {
  return callReads({ caller: String(callerIn(stateReads)), sessionId: String(sessionIn(stateReads)) });
}

type Fields = Readonly<Record<string, JsonValue>>;

/** The answer to a question says how that ended; the rest of it is the question's. */
function outcomeOf({ reasonCode }: Proof, verdict: FreshVerdict): Fields {
  const enforced = verdict.enforced ?? true;
  if (!isAnswer(reasonCode)) return { decision: verdict.decision, enforced, reasonCode: verdict.reasonCode };
  return { decision: reasonCode === "approved" ? "allow" : "deny", enforced, reasonCode };
}

/** Fields of a proof that say what its decision rests on, and demands. */
function groundsOf({
  determining = [],
  errors = [],
  considered = 0,
  stateReads = [],
  obligations = [],
  request,
}: FreshVerdict): Fields {
  return {
    determining: determining.map(({ rule, hash }) => ({ ruleId: rule.id, ruleHash: hash })),
    errors: errors.map((error) => ({ ...error })),
    considered,
    stateReads: stateReads.map((read) => ({ ...read })),
    obligations,
    ...(request && { request: { ...request } }),
  };
}

/** Fields of a proof that follow from the tool, the input and the policy. */
function contextOf({ tool, input }: Evidence, policy: Policy, by: Hash): Fields {
  const { manifest } = tool;
  return {
    tool: versionedId(manifest),
    toolHash: toolHashOf(tool, by) ?? "",
    inputHash: by.text(canonicalJson(input)),
    policyHash: policy.hash,
    policyVersion: policy.document.version,
    posture: policy.document.posture,
    tier: manifest.tier,
  };
}

function differenceFault(proof: Proof, fresh: Fields): string | undefined {
  for (const [field, value] of Object.entries(fresh)) {
    const proven = (proof as unknown as JsonObject)[field] as JsonValue;
    if (canonicalJson(value) !== canonicalJson(proven))
      return `${field} comes out as ${canonicalJson(value).slice(0, 200)}, the proof says ${canonicalJson(proven).slice(0, 200)}.`;
  }
  return undefined;
}

/** The fault of the proof's other bindings. */
function bindingFault({ normalizer, approval, inputHash }: Proof, { tool }: Evidence): string | undefined {
  if ((normalizer && readVersionedId(normalizer).name) !== tool.manifest.normalization?.custom)
    return "The tool names another normalizer than the proof.";
  if (approval?.scope === "once" && approval.argsHash !== inputHash) return "The approval is for other arguments.";
  return undefined;
}

function toolHashOf({ manifest, code, codeHash = null }: ToolEvidence, by: Hash): string | undefined {
  return code === undefined ? manifestHash(manifest, codeHash, by) : packageHash(manifest, code, by);
}
