import type { EventRecorder } from "../audit/log.ts";
import { asFault } from "../call/faults/fault.ts";
import type { CallRecord } from "../call/record/record.ts";
import { type ApprovalAnswer, authorize, type AuthorizePorts } from "../call/steps/authorize.ts";
import { checkGrants, type GrantPorts, holderOf } from "../call/steps/check-grants.ts";
import { decide, type Decided, type DecidePorts } from "../call/steps/decide.ts";
import { resolve, type ResolvePorts } from "../call/steps/resolve.ts";
import { validate, type ValidatePorts } from "../call/steps/validate.ts";
import type { Revocations } from "../capability/revocation.ts";
import { plainMembers } from "../json/plain-members.ts";
import type { Preview, PreviewProof, PreviewQuestion } from "../policy/decision/preview.ts";
import type { Proof } from "../policy/proof/proof.ts";
import { hasOwn } from "../support/guards.ts";

export interface PreviewPorts
  extends
    ResolvePorts,
    Omit<GrantPorts, "log">,
    Omit<DecidePorts, "log">,
    Omit<AuthorizePorts, "log" | "ask" | "registry"> {
  readonly revocations: Pick<Revocations, "track" | "reasonFor" | "kindsWithin">;
  /**
   * The standing answer to the policy's question, or the question. `undefined` without an approver.
   */
  readonly foresee: ((decided: Decided) => ApprovalAnswer | PreviewQuestion) | undefined;
}

/**
 * The decision of a call: its steps 1 to 5, without records and charges. Owns the call, and
 * releases what it holds. Never rejects.
 */
export async function preview(call: CallRecord, input: unknown, { foresee, ...core }: PreviewPorts): Promise<Preview> {
  const entry = { phase: "preview", input } as const;
  const ports = { ...core, log: unwritten, limiter: unlimited };
  let decided: Decided | undefined;
  try {
    const validated = await validate(resolve(call, ports), entry, ports);
    decided = decide(checkGrants(validated, ports), entry, ports);
    const { tool, proof } = await authorize(decided, { ...ports, ask: foresee && answering(foresee) });
    return { decision: "allow", tool: tool.id, proof: previewProof(proof), ...revokedOf(decided, core) };
  } catch (thrown) {
    return stopped(call, thrown, decided && revokedOf(decided, core));
  } finally {
    call.settle({ kind: "early", hasStarted: false, ending: () => undefined });
  }
}

function answering(foresee: NonNullable<PreviewPorts["foresee"]>): (decided: Decided) => ApprovalAnswer {
  return (decided) => {
    const answer = foresee(decided);
    if (hasOwn(answer, "kind")) return answer;
    throw new OpenQuestion(answer);
  };
}

/** Thrown in the place of asking. */
class OpenQuestion {
  readonly question: PreviewQuestion;

  constructor(question: PreviewQuestion) {
    this.question = question;
  }
}

const unwritten: EventRecorder = { record: () => {} };
/** It decides at once, so its arguments wait for nothing. */
const unlimited: ValidatePorts["limiter"] = { holdInput: () => () => {} };

/** The revoked kinds that a running call would lack, though it could start. */
function revokedOf(
  { call, tool, grant, policy }: Decided,
  { revocations }: Pick<PreviewPorts, "revocations">,
): { readonly revoked?: readonly string[] } {
  const holder = holderOf(call, tool);
  const own = grant.kinds.filter((kind) => revocations.reasonFor(holder, kind) !== undefined);
  const mayCall = grant.kinds.some((kind) => policy.families.get(kind)?.isCall === true);
  const revoked = mayCall ? [...new Set([...own, ...revocations.kindsWithin(holder, policy.families.kinds)])] : own;
  return revoked.length === 0 ? {} : { revoked };
}

function stopped(
  { progress, toolName }: CallRecord,
  thrown: unknown,
  held: ReturnType<typeof revokedOf> | undefined,
): Preview {
  const tool = progress.tool?.id ?? toolName;
  const proof = progress.proof && { proof: previewProof(progress.proof) };
  if (proof && thrown instanceof OpenQuestion)
    return { decision: "ask", tool, ...proof, ...held, question: thrown.question };
  return { decision: "deny", tool, error: asFault(thrown, false).error, ...proof, ...held };
}

function previewProof(proof: Proof): PreviewProof {
  const { proofId: _, callId: __, parentProofId: ___, traceparent: ____, hash: _____, ...rest } = proof;
  return rest;
}

/**
 * The options of the later call, without its streams. Malformed options are refused as the call
 * would refuse them.
 */
export function previewOptions(options: unknown): unknown {
  try {
    const members = plainMembers(options);
    return members ? { ...members, output: undefined, body: undefined } : null;
  } catch {
    return unreadable;
  }
}

/**
 * The options of a health check. They may be those of a call, whose streams and functions are not ours: of such a member only the name counts, which
 * an unknown one has as well.
 */
export function healthOptions(options: unknown): unknown {
  try {
    const members = plainMembers(options);
    if (!members) return null;
    const names = Object.keys(members).map((name) => [name, undefined]);
    const { version, caller, sessionId } = members;
    return { ...Object.fromEntries(names), version, caller, sessionId };
  } catch {
    return unreadable;
  }
}

const unreadable: object = Object.defineProperty({}, "caller", {
  enumerable: true,
  get() {
    throw new TypeError("it is unreadable");
  },
});
