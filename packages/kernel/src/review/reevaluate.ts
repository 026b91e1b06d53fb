import type { Capability } from "../capability/capability.ts";
import { attenuate, grantOf } from "../capability/grant.ts";
import { canonicalJson } from "../normalize/canonical-json.ts";
import { blake3Hash, type Hash } from "../normalize/hash.ts";
import { hashOf } from "../normalize/hash-of.ts";
import type { JsonObject, JsonValue } from "../normalize/json.ts";
import { decide, type Verdict } from "../policy/decide.ts";
import { loadPolicy } from "../policy/load.ts";
import type { Proof, ReasonCode } from "../policy/proof.ts";
import { manifestHash, packageHash } from "../tool/hash.ts";
import type { ProofEvidence, ToolEvidence } from "./proof-evidence.ts";

type Evidence = ProofEvidence & Required<Pick<ProofEvidence, "policy" | "tool" | "input">>;

/** How a question that was asked ended. Everything else in such a proof is the question's. */
const answers: readonly ReasonCode[] = ["approved", "approval-denied", "approval-expired", "approval-void"];

/** The first field in which a fresh decision differs from the proof. */
export function reevaluationFault(proof: Proof, evidence: Evidence, question: Proof | undefined): string | undefined {
  const { tool, input, grants } = evidence;
  const by = hashOf(proof.hash) ?? blake3Hash;
  const loaded = loadPolicy(evidence.policy, evidence.variables, by);
  if (!loaded.ok) return `The policy is refused: ${loaded.error.message}`;
  const policy = loaded.value;
  const { manifest } = tool;
  const isAnswer = answers.includes(proof.reasonCode);
  const decisive = isAnswer ? question : proof;
  if (!decisive) return "It is the answer to a question, and the question's proof is missing.";
  if (isAnswer && decisive.proofId !== proof.parentProofId && proof.approval?.scope === "once")
    return "The question's proof is another one.";

  const reads = new Map(proof.stateReads.map(({ key, value }) => [key, value]));
  const caller = String(reads.get("caller"));
  const declared = manifest.capabilities.map(({ optional: _, ...capability }) => capability as Capability);
  const granted = grantOf(declared, [policy.grants(manifest.name, caller)], by);
  const grant = grants ? attenuate(granted, grants, by) : granted;
  const { kinds } = grant;
  const inputText = canonicalJson(input);
  const isMissing = manifest.capabilities.some(({ optional, kind }) => !optional && !kinds.includes(kind));

  const verdict: Partial<Verdict> & Pick<Verdict, "decision" | "reasonCode"> = isMissing
    ? { decision: "deny", reasonCode: "capability-denied" }
    : proof.reasonCode === "revoked"
      ? // That it was revoked is for the log to show; that the call had to stop then follows.
        { decision: "deny", reasonCode: "revoked" }
      : decide(
          policy,
          {
            manifest,
            caller,
            sessionId: String(reads.get("session")),
            mode: proof.mode,
            input,
            inputBytes: new TextEncoder().encode(inputText).length,
            granted: kinds,
            nowMs: Date.parse(decisive.decidedAt),
            labels: String(reads.get("labels") ?? "")
              .split(" ")
              .filter((label) => label !== ""),
          },
          ({ rule }) => {
            const before = reads.get(`count:${rule.id}`);
            return typeof before === "number" ? before : undefined;
          },
        );
  if (isAnswer && verdict.decision !== "ask") return `Nothing had to be asked: the policy says ${verdict.decision}.`;
  const fresh = {
    decision: isAnswer ? (proof.reasonCode === "approved" ? "allow" : "deny") : verdict.decision,
    enforced: verdict.enforced ?? true,
    reasonCode: isAnswer ? proof.reasonCode : verdict.reasonCode,
    tool: `${manifest.name}@${manifest.version}`,
    toolHash: toolHashOf(tool, by) ?? "",
    inputHash: by.text(inputText),
    grantHash: grant.hash,
    policyHash: policy.hash,
    policyVersion: policy.document.version,
    posture: policy.document.posture,
    tier: manifest.tier,
    determining: (verdict.determining ?? []).map(({ rule, hash }) => ({ ruleId: rule.id, ruleHash: hash })),
    errors: verdict.errors ?? [],
    considered: verdict.considered ?? 0,
    stateReads: verdict.stateReads ?? proof.stateReads.filter(({ key }) => key === "caller" || key === "session"),
    obligations: verdict.obligations ?? [],
  };
  for (const [field, value] of Object.entries(fresh as unknown as JsonObject)) {
    const proven = (proof as unknown as JsonObject)[field] as JsonValue;
    if (canonicalJson(value) !== canonicalJson(proven))
      return `${field} comes out as ${canonicalJson(value).slice(0, 200)}, the proof says ${canonicalJson(proven).slice(0, 200)}.`;
  }
  if (proof.normalizer?.split("@")[0] !== manifest.normalization?.custom)
    return "The tool names another normalizer than the proof.";
  if (proof.approval && proof.approval.scope === "once" && proof.approval.argsHash !== proof.inputHash)
    return "The approval is for other arguments.";
  return undefined;
}

function toolHashOf({ manifest, code, codeHash = null }: ToolEvidence, by: Hash): string | undefined {
  return code === undefined ? manifestHash(manifest, codeHash, by) : packageHash(manifest, code, by);
}
