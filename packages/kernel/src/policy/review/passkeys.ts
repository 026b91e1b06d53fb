import { builtInFamilies } from "../../capability/families/index.ts";
import { blake3Hash } from "../../hash/blake3-hash.ts";
import { hashOf } from "../../hash/hash-by-algorithm.ts";
import { isJsonObject, type JsonValue } from "../../json/json.ts";
import { snapshot } from "../../json/snapshot.ts";
import type { Setup } from "../../result.ts";
import { assertionFault } from "../approval/passkey.ts";
import { callerIn, sessionIn } from "../decision/state-reads.ts";
import { checkPolicy } from "../document/load.ts";
import type { Policy } from "../document/make.ts";
import type { Proof } from "../proof/proof.ts";
import { verifyProofDigest } from "../proof/verify-digest.ts";
import { isProof } from "./proof-schema.ts";

/** The keys stand in the policy, which the proof names by digest: no others count. */
export async function passkeyFault(proof: Proof, { document }: Policy): Promise<string | undefined> {
  const { approval, obligations, tool, toolHash, grantHash, policyHash, stateReads } = proof;
  if (!approval || !obligations.includes("passkey")) return undefined;
  const { approvalId, argsHash, scope, rule, approver, passkey } = approval;
  if (!passkey) return "The policy demands a passkey, and the approval has none.";
  if (!document.passkeys) return "The policy demands a passkey and names none.";
  const { caller, sessionId, askedUntil } = passkey;
  if (caller !== callerIn(stateReads) || sessionId !== sessionIn(stateReads))
    return "The passkey approved a call of another caller or session.";
  const pattern = rule?.when.arguments ?? null;
  const asked = { approvalId, tool, toolHash, argsHash, grantHash, policyHash, caller, sessionId };
  return assertionFault(document.passkeys, { ...asked, scope, pattern, askedUntil }, approver, passkey);
}

/** The outcome for one event of a log. */
export type PasskeyCheck =
  /** The event records no approval. */
  | { readonly outcome: "none" }
  /** The approval was given under another policy than this one. */
  | { readonly outcome: "other-policy" }
  /** The policy let the approver answer without a passkey. */
  | { readonly outcome: "without"; readonly approver: string }
  | { readonly outcome: "passed"; readonly approver: string }
  | { readonly outcome: "failed"; readonly reason: string };

/**
 * Checks the approvals of a log, event by event, against the passkeys of one policy. It needs neither tools nor inputs: a passkey signs their digests. An approval with
 * scope `once` counts for the first call that has it. The chain of the log is not looked at: `verifyAudit` checks it. The check takes foreign events and never throws.
 *
 * @param document The policy of the calls, variables filled in.
 * @example
 * const check = passkeyVerifier(policy);
 * for (const event of events) console.log(await check(event));
 */
export function passkeyVerifier(document: unknown): (event: unknown) => Promise<PasskeyCheck> {
  const policies = new Map<string, Setup<Policy>>();
  const onceCalls = new Map<string, JsonValue | undefined>();
  return async (event) => {
    const plain = snapshot(event);
    const decided = plain.ok ? approvedIn(plain.value) : undefined;
    if (!decided) return { outcome: "none" };
    const by = hashOf(decided.policyHash) ?? blake3Hash;
    const policy = policies.get(by.algorithm) ?? checkPolicy(document, by, builtInFamilies);
    policies.set(by.algorithm, policy);
    if (!policy.ok) return { outcome: "failed", reason: `The policy is invalid: ${policy.error.message}` };
    if (policy.value.hash !== decided.policyHash) return { outcome: "other-policy" };
    return check(decided, policy.value, onceCalls);
  };
}

interface Approved {
  readonly callId: JsonValue | undefined;
  readonly policyHash: JsonValue | undefined;
  readonly proofHash: JsonValue | undefined;
  readonly proof: JsonValue | undefined;
}

function approvedIn(event: JsonValue): Approved | undefined {
  if (!isJsonObject(event) || event["type"] !== "policy.decided") return undefined;
  const { callId, payload } = event;
  if (!isJsonObject(payload) || payload["reasonCode"] !== "approved") return undefined;
  const { policyHash, proofHash, proof } = payload;
  return { callId, policyHash, proofHash, proof };
}

/** @param onceCalls by approval for one call: the call that used it. The owner of a log can write a signature into a second one */
async function check(
  { callId, policyHash, proofHash, proof }: Approved,
  policy: Policy,
  onceCalls: Map<string, JsonValue | undefined>,
): Promise<PasskeyCheck> {
  const failed = (reason: string): PasskeyCheck => ({ outcome: "failed", reason });
  if (proof === undefined) return failed("The event has no proof of the approval.");
  const digest = verifyProofDigest(proof, hashOf(policyHash) ?? blake3Hash);
  if (!digest.ok) return failed(digest.reason);
  if (!isProof(proof) || !proof.approval) return failed("The proof is not that of an approval.");
  if (proof.hash !== proofHash || proof.callId !== callId || proof.policyHash !== policyHash)
    return failed("The proof is of another decision than its event.");
  const { approver, approvalId, scope } = proof.approval;
  const isDemanded = policy.document.approver === "passkey";
  if (isDemanded && !proof.obligations.includes("passkey"))
    return failed("The policy demands a passkey, and the decision did not.");
  if (!proof.obligations.includes("passkey")) return { outcome: "without", approver };
  const fault = await passkeyFault(proof, policy);
  if (fault !== undefined) return failed(fault);
  // A call that was suspended decides again on its own approval.
  if (scope === "once" && onceCalls.has(approvalId) && onceCalls.get(approvalId) !== callId)
    return failed("The passkey approved one call, and another one has its approval as well.");
  if (scope === "once") onceCalls.set(approvalId, callId);
  return { outcome: "passed", approver };
}
