import type { EventRecorder } from "../../audit/log.ts";
import type { Grant } from "../../capability/grant.ts";
import { isoTime } from "../../id/time.ts";
import { uuidv7 } from "../../id/uuid.ts";
import type { Clock } from "../../isolate/clock.ts";
import type { Verdict } from "../../policy/decision/verdict.ts";
import type { Policy } from "../../policy/document/make.ts";
import type { Proof } from "../../policy/proof/proof.ts";
import { decided, sealProof } from "../../policy/proof/seal-proof.ts";
import { callReads } from "../../policy/decision/state-reads.ts";
import type { StateChange } from "../../state/change.ts";
import type { Mode } from "../../tool/manifest.ts";
import type { RegisteredTool } from "../../tool/package.ts";
import type { CallRecord } from "../record/record.ts";

/** The call and the tool of a decision. */
export interface Subject {
  readonly call: CallRecord;
  readonly tool: RegisteredTool;
  readonly inputHash: string;
  readonly grant: Grant;
  readonly policy: Policy;
  readonly mode: Mode;
}

export interface ProofPorts {
  readonly log: EventRecorder;
  readonly clock: Clock;
}

/** The parent of a decision, and its consequences. */
interface Decision {
  /** Default: the proof of the parent call. */
  readonly parentProofId?: string | null;
  readonly approval?: Proof["approval"];
  readonly changes?: readonly StateChange[];
}

/** A verdict, or a denial without one. */
type Grounds = Pick<Verdict, "decision" | "reasonCode"> & Partial<Verdict> & Pick<Proof, "request">;

/** Makes the proof of a decision, and puts it on record. */
export function recordDecision(
  subject: Subject,
  verdict: Grounds,
  { log, clock }: ProofPorts,
  { parentProofId = subject.call.parent?.proofId ?? null, approval = null, changes }: Decision = {},
): Proof {
  const proof = prove(subject, verdict, clock.now(), parentProofId, approval);
  log.record("policy.decided", subject.call.scope, decided(proof), changes);
  return proof;
}

function prove(
  { call, tool, inputHash, grant, policy, mode }: Subject,
  verdict: Grounds,
  nowMs: number,
  parentProofId: string | null,
  approval: Proof["approval"],
): Proof {
  const { decision, reasonCode, enforced = true, determining = [], errors = [], considered = 0, request } = verdict;
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
      ...(request && { request }),
    },
    call.hash,
  );
}
