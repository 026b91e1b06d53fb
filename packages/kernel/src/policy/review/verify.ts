import type { AuditEvent } from "../../audit/event.ts";
import { fromBase64Url } from "../../audit/public-key.ts";
import type { EnclosedKeys, TrustedKeys } from "../../audit/trusted-keys.ts";
import { verifyAudit } from "../../audit/verify.ts";
import type { VouchedBy } from "../../audit/vouched.ts";
import { builtInFamilies } from "../../capability/families/index.ts";
import { blake3Hash } from "../../hash/blake3-hash.ts";
import type { Hash } from "../../hash/hash.ts";
import { hashOf } from "../../hash/hash-by-algorithm.ts";
import { isJsonObject, isJsonArray, type JsonValue } from "../../json/json.ts";
import { snapshot } from "../../json/snapshot.ts";
import type { Proof } from "../proof/proof.ts";
import { verifyProofDigest } from "../proof/verify-digest.ts";
import { obligationFault, proofIn, recordsOf } from "./check-obligations.ts";
import type { ProofEvidence } from "./proof-evidence.ts";
import { isProof } from "./proof-schema.ts";
import { type Evidence, reevaluationFault } from "./reevaluate.ts";
import type { ProofReport, ProofStep } from "./report.ts";

/**
 * Verifies a proof without the kernel that made it, offline. Level 0: it is unchanged, and signed by a trusted key. Level 1: it is in the log, and the log is
 * whole. Level 2: policy, tool and input give the same decision, field by field. Level 3: nothing ran after a denial, and what the decision demanded
 * was done. All digests are in the algorithm of the proof's own. Takes foreign data and never throws.
 *
 * @param trusted Keys whose signature makes it `verified`. With keys, a proof that none of them signed is `broken`; without, any is `unvouched`.
 * @example
 * const report = await verifyProof(proof, { events }, trusted);
 * if (report.verdict === "verified") console.log(report.vouchedBy.kid, report.proof.decision);
 */
export async function verifyProof(
  foreign: unknown,
  evidence: ProofEvidence = {},
  trusted?: TrustedKeys,
): Promise<ProofReport> {
  const plain = snapshot(foreign);
  const proof: unknown = plain.ok ? plain.value : undefined;
  const by = algorithmOf(proof);
  const digest = plain.ok
    ? verifyProofDigest(proof, by)
    : ({ ok: false, reason: `The proof is not JSON: ${plain.error.message}.` } as const);
  const fault = digest.ok ? undefined : digest.reason;
  if (fault !== undefined || !isProof(proof)) {
    const reason = fault ?? "It does not have the shape of a proof.";
    return { verdict: "broken", reason, steps: [step(0, "digest", reason)] };
  }
  const signature = await checkSignature(proof, evidence.enclosedKeys, trusted);
  const log = await readLog(evidence, by, trusted);
  const steps = [
    step(0, "digest", undefined),
    signature.step,
    log ? inLog(1, "inclusion", log, (events) => inclusionFault(proof, events)) : skip(1, "inclusion", NO_LOG),
    await reevaluate(proof, evidence, log),
    log?.events
      ? inLog(3, "discharge", log, (events) => obligationFault(proof, events))
      : skip(3, "discharge", "The check needs a complete log."),
  ];
  const failed = steps.find(({ outcome }) => outcome === "failed");
  if (failed) return { verdict: "broken", reason: failed.reason, steps };
  // A log was given to be checked: no signature of the proof stands for it.
  const vouchedBy: VouchedBy =
    log?.isUnread === true ? { kind: "nobody", reason: `The log was not checked: ${log.fault}` } : signature.vouchedBy;
  return vouchedBy.kind === "key"
    ? { verdict: "verified", vouchedBy, proof, steps }
    : { verdict: "unvouched", vouchedBy, claimed: proof, steps };
}

/** A log can be larger than anything else that a kernel is given. */
const LARGE = { maxNodes: 100_000_000, maxMembers: 100_000_000, maxStringUnits: 1_000_000_000 };

const NO_LOG = "There is no log.";

type Level = ProofStep["level"];
type Name = ProofStep["name"];

function step(level: Level, name: Name, fault: string | undefined): ProofStep {
  return { level, name, outcome: fault === undefined ? "passed" : "failed", reason: fault ?? "" };
}

function skip(level: Level, name: Name, reason: string): ProofStep {
  return { level, name, outcome: "skipped", reason };
}

/** Level 0: only a key that the verifier trusts can vouch. */
async function checkSignature(
  { hash, signature }: Proof,
  enclosed: EnclosedKeys | undefined,
  trusted: TrustedKeys | undefined,
): Promise<{ readonly step: ProofStep; readonly vouchedBy: VouchedBy }> {
  const nobody = (made: ProofStep): { step: ProofStep; vouchedBy: VouchedBy } => ({
    step: made,
    vouchedBy: { kind: "nobody", reason: made.reason },
  });
  const skipped = (reason: string): ReturnType<typeof nobody> => nobody(skip(0, "signature", reason));
  const failed = (reason: string): ReturnType<typeof nobody> => nobody(step(0, "signature", reason));
  if (!signature) return trusted ? failed("The proof has no signature.") : skipped("The proof has no signature.");
  const { kid } = signature;
  const value = fromBase64Url(signature.value, 64);
  if (!value) return failed("The signature is not 64 bytes in base64url.");
  const signed = new TextEncoder().encode(hash);
  if (!trusted) {
    const found = await enclosed?.verify(kid, value, signed).catch(() => "unknown" as const);
    if (found === "forged") return failed(`The signature is not that of key ${kid}.`);
    return skipped(
      found === "consistent"
        ? `Key ${kid} came with the file. Ask its owner for the thumbprint, and pin it.`
        : "Signature not checked: there is no public key.",
    );
  }
  const vouchedBy = await trusted.verify(kid, value, signed);
  if (typeof vouchedBy === "string")
    return failed(vouchedBy === "forged" ? `The signature is not that of key ${kid}.` : "No trusted key signed it.");
  return { step: { level: 0, name: "signature", outcome: "passed", reason: `of key ${kid}` }, vouchedBy };
}

/** The log of the evidence: its events where it is whole, and otherwise why not. */
type ReadLog =
  | { readonly events: readonly AuditEvent[]; readonly vouchedBy: VouchedBy; readonly isUnread?: never }
  | { readonly events?: never; readonly fault: string; readonly isUnread?: boolean };

/** Level 1 or 3. In an unvouched log a passed step is only a claim. */
function inLog(
  level: 1 | 3,
  name: Name,
  log: ReadLog,
  faultOf: (events: readonly AuditEvent[]) => string | undefined,
): ProofStep {
  if (!log.events) return log.isUnread ? skip(level, name, log.fault) : step(level, name, log.fault);
  const fault = faultOf(log.events);
  if (fault !== undefined || log.vouchedBy.kind === "key") return step(level, name, fault);
  return { level, name, outcome: "unvouched", reason: `It holds in this log. ${log.vouchedBy.reason}` };
}

async function readLog(
  { events, checkpoints = [] }: ProofEvidence,
  by: Hash,
  trusted: TrustedKeys | undefined,
): Promise<ReadLog | undefined> {
  if (!events) return undefined;
  const plain = snapshot(events, LARGE);
  if (!plain.ok || !isJsonArray(plain.value)) return { fault: "The log is not a list of events." };
  const isEvent = (event: JsonValue): boolean =>
    isJsonObject(event) && typeof event["payload"] === "object" && event["payload"] !== null;
  if (!plain.value.every(isEvent)) return { fault: "The log is not a list of events." };
  const check = await verifyAudit(plain.value, { algorithm: by.algorithm, checkpoints, trusted });
  if (check.verdict === "broken") return { fault: check.reason };
  if (check.verdict === "inconclusive") return { fault: check.reason, isUnread: plain.value.length > 0 };
  return { events: plain.value as unknown as readonly AuditEvent[], vouchedBy: check.vouchedBy };
}

/** Level 2. The proof names its evidence by digest, so it needs no other voucher. */
async function reevaluate(proof: Proof, evidence: ProofEvidence, log: ReadLog | undefined): Promise<ProofStep> {
  const { policy, tool, input, variables, grants, families = builtInFamilies } = evidence;
  if (policy === undefined || tool === undefined || input === undefined)
    return skip(2, "re-evaluation", "The check needs the policy, the tool and the input.");
  const parent =
    evidence.parent ?? log?.events?.find((event) => proofIn(event)?.proofId === proof.parentProofId)?.payload;
  const question = readParent(parent);
  // The decision must concern the hashed value.
  const plain = snapshot({ policy, tool, input, variables, grants }, LARGE);
  if (!plain.ok) return step(2, "re-evaluation", `The evidence is unreadable: ${plain.error.message}.`);
  try {
    return step(
      2,
      "re-evaluation",
      await reevaluationFault(proof, plain.value as unknown as Evidence, question, families),
    );
  } catch (error) {
    // Evidence is foreign: a check that throws has failed.
    const why = error instanceof Error ? error.message.slice(0, 200) : "it threw";
    return step(2, "re-evaluation", `The evidence is unreadable: ${why}.`);
  }
}

/** A digest that names no algorithm is compared with one in BLAKE3, and refused. */
function algorithmOf(proof: unknown): Hash {
  const hash = typeof proof === "object" && proof !== null && "hash" in proof ? proof.hash : undefined;
  return hashOf(hash) ?? blake3Hash;
}

function inclusionFault(proof: Proof, events: readonly AuditEvent[]): string | undefined {
  return events.some((event) => recordsOf(event, proof)) ? undefined : "The log has no such decision.";
}

function readParent(foreign: unknown): Proof | undefined {
  const plain = snapshot(foreign);
  const parent = plain.ok && isJsonObject(plain.value) ? plain.value : {};
  const candidate: unknown = parent["proof"] ?? parent;
  return isProof(candidate) && verifyProofDigest(candidate, algorithmOf(candidate)).ok ? candidate : undefined;
}
