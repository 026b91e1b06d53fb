import type { ApprovalRequest, Approver } from "@keyhole/kernel";

/** The kernel's question about one call: all that its approval binds, as the person is shown it. */
export type AgentQuestion = Pick<ApprovalRequest, (typeof bound)[number]>;

const bound = ["tool", "toolHash", "caller", "argsHash", "hasBody", "grantHash", "policyHash", "reason"] as const;

/**
 * Where a framework's person said yes: the call that the framework shows, or `asked`, the question that was asked here under the call's id. `approvalId` is the
 * framework's own of a yes that can be sent again.
 */
export type FrameworkYes = "asked" | { readonly tool: string; readonly input: unknown; readonly approvalId: string };

type Entry = { readonly question: AgentQuestion; readonly untilMs: number; isSpent: boolean };

/** As long as a standing approval: a run that was interrupted can wait for its person. */
const validMs = 28_800_000;

/** When it is full, no further yes counts: forgetting a spent one would let it count again. */
const mostQuestions = 10_000;

/** The questions that an agent's framework asks its person, by the framework's id of the call. A yes answers the question asked under its id, once. */
export class FrameworkApprovals {
  readonly #asked = new Map<string, Entry>();

  /** The first question under an id is the one that its yes answers. */
  asked(id: string, question: AgentQuestion): void {
    if (!this.#asked.has(id) && this.#asked.size < mostQuestions)
      this.#asked.set(id, { question, untilMs: Date.now() + validMs, isSpent: false });
  }

  /** Whether a yes under the id answers this question. It answers nothing more afterwards. */
  spend(id: string, question: AgentQuestion): boolean {
    const entry = this.#asked.get(id);
    if (!entry || entry.isSpent || Date.now() > entry.untilMs || !isSame(entry.question, question)) return false;
    return (entry.isSpent = true);
  }
}

/** A yes to one question. The kernel still refuses a person whom the policy does not name. */
export function yesTo(question: AgentQuestion, approver: string): Approver {
  let isOpen = true;
  return async (request) => {
    const isAnswered = isOpen && isSame(request, question);
    isOpen = false;
    if (isAnswered) return { answer: "allow", scope: "once", approver };
    return { answer: "deny", approver, reason: "The approval was for another call." };
  };
}

function isSame(one: AgentQuestion, other: AgentQuestion): boolean {
  return bound.every((name) => one[name] === other[name]);
}
