import { knownOptions } from "../../json/known-options.ts";
import type { AuditEvent } from "../../audit/event.ts";
import { fromBase64Url } from "../../audit/public-key.ts";
import type { EnclosedKeys, TrustedKeys } from "../../audit/trusted-keys.ts";
import type { VouchedBy } from "../../audit/vouched.ts";
import { builtInFamilies } from "../../capability/families/index.ts";
import { isJsonObject } from "../../json/json.ts";
import { snapshot } from "../../json/snapshot.ts";
import { isAnswer, type Proof } from "../proof/proof.ts";
import { verifyProofDigest } from "../proof/verify-digest.ts";
import { obligationFault, proofIn, recordsOf } from "./check-obligations.ts";
import { resultStatement } from "./check-result.ts";
import { evidenceNames, type ProofEvidence } from "./proof-evidence.ts";
import { isProof } from "./proof-schema.ts";
import { bindingsFault, type Evidence, reevaluationFault } from "./reevaluate.ts";
import type { ProofReport } from "./report.ts";
import { absent, failed, held, reportOf, signerOf, type Statement, stepOf, unchecked } from "./statement.ts";
import { algorithmOf, LARGE, type LogRead, readLog, type Witnessed } from "./witnessed-log.ts";

/**
 * Verifies a proof without the kernel that made it, offline. Level 0: it is unchanged, and signed by a trusted key. Level 1: it is in the log, the log is
 * whole, and records the result. Level 2: policy, tool and input give the same decision, field by field. Level 3: nothing ran after a denial, and what the
 * decision demanded was done. All digests are in the algorithm of the proof's own. Takes foreign data and never throws.
 *
 * @param trusted Keys whose signature makes it `verified`, as far as they vouch for all of the evidence. With keys, a proof that none of them signed is
 * `broken`; without, any is `unvouched`.
 * @example
 * const report = await verifyProof(proof, { events, checkpoints }, trusted);
 * if (report.verdict === "verified") console.log(report.vouchedBy.kid, report.proof.decision);
 */
export async function verifyProof(
  foreign: unknown,
  given: ProofEvidence = {},
  trusted?: TrustedKeys,
): Promise<ProofReport> {
  const evidence = knownOptions(given, evidenceNames, "verifyProof");
  const plain = snapshot(foreign);
  const proof: unknown = plain.ok ? plain.value : undefined;
  const by = algorithmOf(proof);
  const digest = plain.ok
    ? verifyProofDigest(proof, by)
    : ({ ok: false, reason: `The proof is not JSON: ${plain.error.message}.` } as const);
  const fault = digest.ok ? undefined : digest.reason;
  if (fault !== undefined || !isProof(proof)) {
    const reason = fault ?? "It does not have the shape of a proof.";
    return { verdict: "broken", reason, steps: [stepOf(failed(0, "digest", reason))] };
  }
  const log = await readLog(evidence, by, trusted);
  return reportOf(proof, await checkSignature(proof, evidence.enclosedKeys, trusted), [
    inclusion(proof, log),
    ...(evidence.result === undefined ? [] : [resultStatement(evidence.result, proof, log)]),
    await reevaluate(proof, evidence, log, trusted),
    log.kind === "whole"
      ? log.log.state(3, "discharge", (events) => obligationFault(proof, events))
      : absent(3, "discharge", "The check needs a complete log."),
  ]);
}

/** Level 0: only a key that the verifier trusts can vouch. */
async function checkSignature(
  { hash, signature }: Proof,
  enclosed: EnclosedKeys | undefined,
  trusted: TrustedKeys | undefined,
): Promise<Statement> {
  const skipped = (reason: string): Statement => absent(0, "signature", reason);
  const forged = (reason: string): Statement => failed(0, "signature", reason);
  if (!signature) return trusted ? forged("The proof has no signature.") : skipped("The proof has no signature.");
  const { kid } = signature;
  const value = fromBase64Url(signature.value, 64);
  if (!value) return forged("The signature is not 64 bytes in base64url.");
  const signed = new TextEncoder().encode(hash);
  if (!trusted) {
    const found = await enclosed?.verify(kid, value, signed).catch(() => "unknown" as const);
    if (found === "forged") return forged(`The signature is not that of key ${kid}.`);
    return skipped(
      found === "consistent"
        ? `Key ${kid} came with the file. Ask its owner for the thumbprint, and pin it.`
        : "Signature not checked: there is no public key.",
    );
  }
  const vouchedBy = await trusted.verify(kid, value, signed);
  if (typeof vouchedBy === "string")
    return forged(vouchedBy === "forged" ? `The signature is not that of key ${kid}.` : "No trusted key signed it.");
  return held(0, "signature", vouchedBy, `of key ${kid}`);
}

function inclusion(proof: Proof, read: LogRead): Statement {
  if (read.kind === "none") return absent(1, "inclusion", "There is no log.");
  if (read.kind === "unread") return unchecked(1, "inclusion", read.reason);
  if (read.kind === "broken") return failed(1, "inclusion", read.reason);
  return read.log.state(1, "inclusion", (events) => inclusionFault(proof, events));
}

function inclusionFault(proof: Proof, events: readonly AuditEvent[]): string | undefined {
  return events.some((event) => recordsOf(event, proof)) ? undefined : "The log has no such decision.";
}

/** Level 2. The proof names policy, tool and input by digest, so they need no other voucher. It names a question by an id alone. */
async function reevaluate(
  proof: Proof,
  evidence: ProofEvidence,
  log: LogRead,
  trusted: TrustedKeys | undefined,
): Promise<Statement> {
  const { policy, tool, input, grants, parent, families = builtInFamilies } = evidence;
  // The decision must concern the hashed value.
  const plain = snapshot({ policy, tool, input, grants }, LARGE);
  if (!plain.ok) return failed(2, "re-evaluation", `The evidence is unreadable: ${plain.error.message}.`);
  const own = plain.value as unknown as Partial<Evidence>;
  const question = await questionOf(proof, parent, log, trusted);
  if (parent !== undefined && !question) return failed(2, "re-evaluation", "The parent is no proof, or was changed.");
  const isWhole = policy !== undefined && tool !== undefined && input !== undefined;
  const decisive = isAnswer(proof.reasonCode) ? question?.value : proof;
  try {
    const fault =
      isWhole && decisive
        ? await reevaluationFault(proof, own as Evidence, decisive, families)
        : bindingsFault(proof, own, families);
    if (fault !== undefined) return failed(2, "re-evaluation", fault);
    if (isWhole && decisive) return held(2, "re-evaluation", witnessOfQuestion(proof, question));
  } catch (error) {
    // Evidence is foreign: a check that throws has failed.
    const why = error instanceof Error ? error.message.slice(0, 200) : "it threw";
    return failed(2, "re-evaluation", `The evidence is unreadable: ${why}.`);
  }
  const isUnread = grants !== undefined || parent !== undefined;
  const reason = isWhole
    ? "The check needs the proof of the approval request."
    : "The check needs the policy, the tool and the input.";
  return isUnread ? unchecked(2, "re-evaluation", reason) : absent(2, "re-evaluation", reason);
}

/** A question is evidence of its own. The passkey of an answer signs what was asked, and the policy names the passkey. */
function witnessOfQuestion(
  { reasonCode, obligations }: Proof,
  question: Witnessed<Proof> | undefined,
): "proof" | VouchedBy {
  if (!question || !isAnswer(reasonCode) || obligations.includes("passkey")) return "proof";
  const { vouchedBy } = question;
  if (vouchedBy.kind === "key") return vouchedBy;
  return { kind: "nobody", reason: "No trusted key vouches for the approval request that the proof answers." };
}

/** The question that an approval answers: the one that a trusted key vouches for, where there is one. */
async function questionOf(
  { parentProofId }: Proof,
  foreign: unknown,
  log: LogRead,
  trusted: TrustedKeys | undefined,
): Promise<Witnessed<Proof> | undefined> {
  const inEvent = (event: AuditEvent): Proof | undefined => {
    const proof = proofIn(event);
    return proof?.proofId === parentProofId ? readParent(proof) : undefined;
  };
  const recorded = log.kind === "whole" ? log.log.find(inEvent) : undefined;
  const value = readParent(foreign);
  if (!value || recorded?.vouchedBy.kind === "key") return recorded;
  const vouchedBy = signerOf(await checkSignature(value, undefined, trusted));
  return { value, vouchedBy };
}

function readParent(foreign: unknown): Proof | undefined {
  const plain = snapshot(foreign);
  const parent = plain.ok && isJsonObject(plain.value) ? plain.value : {};
  const candidate: unknown = parent["proof"] ?? parent;
  return isProof(candidate) && verifyProofDigest(candidate, algorithmOf(candidate)).ok ? candidate : undefined;
}
