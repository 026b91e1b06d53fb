import type { AuditPayloads, AuditType } from "../audit/event.ts";
import type { EventScope } from "../audit/scope.ts";
import type { Validated } from "../call/admit.ts";
import { type Allowed, approve } from "../call/approve.ts";
import { checkCapabilities, decidePolicy, holderOf } from "../call/authorize.ts";
import { next, type Step, stop } from "../call/call.ts";
import type { Path } from "../call/steps.ts";
import type { FrozenRun } from "./frozen.ts";
import type { Resumption } from "./go-on.ts";

type Entry = readonly [AuditType, EventScope, AuditPayloads[AuditType]];

/**
 * Whether a call that ran may run on. Grants and policy are asked again. As long as they say the same, the call goes on under the proof that it had, and nothing is on record but that
 * it goes on. Under another policy or mode it is decided anew, for what it had and still has.
 */
export async function allowAgain(
  validated: Validated,
  frozen: FrozenRun,
  path: Path,
  { steps, since }: Resumption,
): Promise<Step<Allowed>> {
  const { log, clock, policyState, revocations, authority } = steps.parts;
  const { call, tool } = validated;
  const { proof } = frozen;
  const now = authority();
  if (proof.approval && since.revokedApprovals.has(proof.approval.approvalId))
    return stop("APPROVAL_DENIED", "The approval was revoked while the call was suspended.", {
      details: { approvalId: proof.approval.approvalId },
    });
  const drafts: Entry[] = [];
  const draft = { record: (...entry: Entry): void => void drafts.push(entry) };
  const granted = checkCapabilities(validated, now, revocations, draft, clock);
  const decided = granted.ok ? decidePolicy(granted.state, policyState, draft, clock, proof.proofId) : undefined;
  if (decided) path.settle = decided.settle;
  const isSame = now.policy.hash === frozen.policyHash && now.mode === frozen.mode;
  // It is in the counts already: they are no reason to stop it half-way.
  const isDenied =
    decided?.verdict.decision === "deny" && decided.verdict.enforced && !(isSame && decided.retryAfterMs !== undefined);
  if (granted.ok) {
    const { grant } = granted.state;
    const gone = frozen.real.find(
      (kind) => !grant.kinds.includes(kind) || revocations.standing(holderOf(call, tool), kind) !== undefined,
    );
    if (gone)
      return stop("CAPABILITY_DENIED", `${tool.id} sees the real ${gone}, which is not granted any more.`, {
        details: { revoked: gone },
      });
  }
  if (decided && isSame && !isDenied) {
    decided.settle(false);
    delete path.settle;
    return next({ ...decided, proof, settle: () => {}, allowed: true });
  }
  for (const [type, scope, payload] of drafts) log.record(type, scope, payload);
  if (!granted.ok) return granted;
  path.proof = decided!.proof;
  const allowed = await approve(decided!, steps.ports(call));
  if (allowed.ok || !("edited" in allowed)) return allowed;
  return stop("APPROVAL_DENIED", "Its arguments cannot be edited any more: it has begun.", { details: null });
}
