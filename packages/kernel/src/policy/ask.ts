import { uuidv7, randomHex } from "../id/uuid.ts";
import type { Clock } from "../isolate/clock.ts";
import { limits } from "../limits.ts";
import type { ApprovalAnswer, ApprovalRequest, Approver } from "./approval.ts";
import type { Mode } from "../tool/manifest.ts";
import type { ApprovalProof } from "./proof.ts";

/** What an approval is bound to: another tool version, argument, grant, policy or mode voids it. */
export interface ApprovalKey {
  readonly sessionId: string;
  readonly caller: string;
  readonly toolHash: string;
  readonly argsHash: string;
  readonly grantHash: string;
  readonly policyHash: string;
  readonly mode: Mode;
}

export type AskOutcome =
  | { readonly kind: "allowed"; readonly approval: ApprovalProof }
  | { readonly kind: "denied"; readonly approver: string; readonly reason: string }
  | { readonly kind: "expired" }
  | { readonly kind: "cancelled" };

/** Asks a person, or whoever the approver is, and waits for at most `limits.approvalMs`. Never rejects. */
export async function ask(
  approver: Approver,
  request: ApprovalRequest,
  clock: Clock,
  cancel: AbortSignal | undefined,
): Promise<AskOutcome> {
  const nobodyWaits = new AbortController();
  // Kept apart from the object that the approver gets, and can change.
  const bound = { approvalId: request.approvalId, argsHash: request.argsHash, expiresAt: request.expiresAt };
  let stopTimer = (): void => {};
  let stopListening = (): void => {};
  try {
    return await new Promise<AskOutcome>((resolve) => {
      stopTimer = clock.after(limits.approvalMs, () => resolve({ kind: "expired" }));
      if (cancel) {
        const onAbort = (): void => resolve({ kind: "cancelled" });
        cancel.addEventListener("abort", onAbort, { once: true });
        stopListening = () => cancel.removeEventListener("abort", onAbort);
        if (cancel.aborted) onAbort();
      }
      Promise.resolve()
        .then(() => approver(request, nobodyWaits.signal))
        .then((answer) => resolve(readAnswer(answer, bound)))
        // Its answer may throw as well, when it is read.
        .catch(() => resolve({ kind: "denied", approver: "", reason: "The approver failed." }));
    });
  } finally {
    stopTimer();
    stopListening();
    nobodyWaits.abort("nobody waits any more");
  }
}

/** An approver is foreign too (a page, an HTTP client): anything but a well-formed yes is a no. */
function readAnswer(
  foreign: ApprovalAnswer,
  bound: Pick<ApprovalProof, "approvalId" | "argsHash" | "expiresAt">,
): AskOutcome {
  const answer: unknown = foreign?.answer;
  const approver: unknown = foreign?.approver;
  const who = typeof approver === "string" ? approver.slice(0, limits.nameLength).toWellFormed() : "";
  if (answer === "allow") {
    const { scope } = foreign as Extract<ApprovalAnswer, { answer: "allow" }>;
    if ((scope === "once" || scope === "session") && who !== "") {
      return {
        kind: "allowed",
        approval: { ...bound, approver: who, scope, nonce: randomHex(16) },
      };
    }
  }
  const reason: unknown =
    answer === "deny"
      ? (foreign as Extract<ApprovalAnswer, { answer: "deny" }>).reason
      : "The approver's answer was malformed.";
  return {
    kind: "denied",
    approver: who,
    reason: typeof reason === "string" ? reason.slice(0, 500).toWellFormed() : "",
  };
}

/** Approvals that hold for a session: the same tool, arguments, grants and policy again. Bounded; the oldest are forgotten. */
export class SessionApprovals {
  readonly #approvals = new Map<string, ApprovalProof>();

  find(key: ApprovalKey): ApprovalProof | undefined {
    return this.#approvals.get(keyText(key));
  }

  remember(key: ApprovalKey, approval: ApprovalProof): void {
    this.#approvals.set(keyText(key), approval);
    if (this.#approvals.size > limits.sessionApprovals) this.#approvals.delete(this.#approvals.keys().next().value!);
  }
}

/** JSON, so that no choice of names can make two keys collide. */
function keyText({ sessionId, caller, toolHash, argsHash, grantHash, policyHash, mode }: ApprovalKey): string {
  return JSON.stringify([sessionId, caller, toolHash, argsHash, grantHash, policyHash, mode]);
}

export function newApprovalId(clock: Clock): string {
  return uuidv7(clock.now());
}
