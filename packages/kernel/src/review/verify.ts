import { verifyChain } from "../audit/chain.ts";
import type { AuditEvent } from "../audit/event.ts";
import { blake3Hash, type Hash } from "../normalize/hash.ts";
import { hashOf } from "../normalize/hash-of.ts";
import { snapshot } from "../normalize/snapshot.ts";
import type { Proof } from "../policy/proof.ts";
import { verifyProof as verifyDigest } from "../policy/seal.ts";
import { dischargeFault, proofIn, recordsOf } from "./discharge.ts";
import type { ProofEvidence } from "./proof-evidence.ts";
import { isProof } from "./proof-schema.ts";
import { reevaluationFault } from "./reevaluate.ts";
import { signatureFault } from "./sign.ts";

export interface ProofStep {
  readonly level: 0 | 1 | 2 | 3;
  readonly name: "digest" | "signature" | "inclusion" | "re-evaluation" | "discharge";
  readonly outcome: "passed" | "failed" | "skipped";
  /** Why it failed or was skipped; empty where it passed. */
  readonly reason: string;
}

export interface ProofReport {
  /** Nothing failed. What was skipped is not known. */
  readonly ok: boolean;
  readonly steps: readonly ProofStep[];
}

/**
 * Verifies a proof without the kernel that made it, offline. Level 0: it is unchanged, and signed by a known key. Level 1: it is in the log, and the log is
 * whole. Level 2: policy, tool and input give the same decision, field by field. Level 3: nothing ran after a denial, and what the decision demanded
 * was done. All digests are in the algorithm of the proof's own. Takes foreign data and never throws.
 *
 * @example
 * const report = await verifyProof(proof, { keys: [publicKey], events });
 * if (!report.ok) console.error(report.steps.find(({ outcome }) => outcome === "failed")?.reason);
 */
export async function verifyProof(foreign: unknown, evidence: ProofEvidence = {}): Promise<ProofReport> {
  const steps: ProofStep[] = [];
  const add = (level: ProofStep["level"], name: ProofStep["name"], fault: string | undefined): boolean => {
    steps.push({ level, name, outcome: fault === undefined ? "passed" : "failed", reason: fault ?? "" });
    return fault === undefined;
  };
  const skip = (level: ProofStep["level"], name: ProofStep["name"], reason: string): void => {
    steps.push({ level, name, outcome: "skipped", reason });
  };
  const report = (): ProofReport => ({ ok: steps.every(({ outcome }) => outcome !== "failed"), steps });

  const plain = snapshot(foreign);
  const proof: unknown = plain.ok ? plain.value : undefined;
  const by = algorithmOf(proof);
  const digest = verifyDigest(foreign, by);
  if (!add(0, "digest", digest.ok ? undefined : digest.reason)) return report();
  if (!isProof(proof)) {
    steps.pop();
    add(0, "digest", "It does not have the shape of a proof.");
    return report();
  }
  if (!evidence.keys) skip(0, "signature", proof.signature ? "No keys were given." : "The proof is not signed.");
  else if (!proof.signature) add(0, "signature", "The proof is not signed.");
  else add(0, "signature", await guarded(() => signatureFault(proof.hash, proof.signature!, evidence.keys!)));

  const { events } = evidence;
  const log = events && readLog(events, by);
  if (!log) skip(1, "inclusion", "No log was given.");
  else add(1, "inclusion", typeof log === "string" ? log : inclusionFault(proof, log));

  const { policy, tool, input } = evidence;
  const sound = typeof log === "string" ? undefined : log;
  if (policy === undefined || tool === undefined || input === undefined)
    skip(2, "re-evaluation", "It takes the policy, the tool and the input.");
  else {
    const parent = evidence.parent ?? sound?.find((event) => proofIn(event)?.proofId === proof.parentProofId)?.payload;
    const question = readParent(parent);
    add(
      2,
      "re-evaluation",
      await guarded(() => reevaluationFault(proof, { ...evidence, policy, tool, input }, question)),
    );
  }

  if (!sound) skip(3, "discharge", "It takes a log that is whole.");
  else add(3, "discharge", dischargeFault(proof, sound));
  return report();
}

/** A digest that names no algorithm is compared with one in BLAKE3, and refused. */
function algorithmOf(proof: unknown): Hash {
  const hash = typeof proof === "object" && proof !== null && "hash" in proof ? proof.hash : undefined;
  return hashOf(hash) ?? blake3Hash;
}

/** Evidence is foreign: what makes a check throw makes it fail. */
async function guarded(check: () => string | undefined | Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await check();
  } catch (error) {
    return `The evidence cannot be read: ${error instanceof Error ? error.message.slice(0, 200) : "it threw"}.`;
  }
}

/** A log as data; a reason where it is none, or not whole. */
function readLog(foreign: readonly AuditEvent[], by: Hash): readonly AuditEvent[] | string {
  const plain = snapshot(foreign, { maxNodes: 100_000_000, maxStringUnits: 1_000_000_000 });
  if (!plain.ok || !Array.isArray(plain.value)) return "The log is not a list of events.";
  const events = plain.value as unknown as readonly AuditEvent[];
  const isEvent = (event: unknown): boolean =>
    typeof event === "object" &&
    event !== null &&
    typeof (event as AuditEvent).payload === "object" &&
    (event as AuditEvent).payload !== null;
  if (!events.every(isEvent)) return "The log is not a list of events.";
  const chain = verifyChain(events, by);
  return chain.ok ? events : chain.reason;
}

function inclusionFault(proof: Proof, events: readonly AuditEvent[]): string | undefined {
  return events.some((event) => recordsOf(event, proof)) ? undefined : "The log has no such decision.";
}

function readParent(foreign: unknown): Proof | undefined {
  if (typeof foreign !== "object" || foreign === null) return undefined;
  const candidate: unknown = "proof" in foreign ? foreign.proof : foreign;
  return isProof(candidate) && verifyDigest(candidate, algorithmOf(candidate)).ok ? candidate : undefined;
}
