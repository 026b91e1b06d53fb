import type { ApprovalRequest, Approver, CallOptions } from "@keyhole/kernel";

/** The kernel's question about one call: all that its approval binds, as the person is shown it. */
export type AgentQuestion = Pick<ApprovalRequest, (typeof bound)[number]>;

const bound = [
  "tool",
  "toolHash",
  "caller",
  "argsHash",
  "hasBody",
  "grantHash",
  "policyHash",
  "mode",
  "asks",
  "reason",
] as const;

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

/** The tool's question about a call, where the policy asks. */
type QuestionOf = (tool: string, input: unknown) => Promise<AgentQuestion | undefined>;

interface ApprovedCall {
  readonly id?: string | undefined;
  readonly approved?: FrameworkYes | undefined;
}

/** The questions that an agent's framework asks its person about one tool, by the framework's id of the call. A yes answers the question asked under its id, once. */
export class FrameworkApprovals {
  readonly #tool: string;
  readonly #questionOf: QuestionOf;
  readonly #approver: string;
  readonly #asked = new Map<string, Entry>();

  constructor(tool: string, questionOf: QuestionOf, approver: string) {
    [this.#tool, this.#questionOf, this.#approver] = [tool, questionOf, approver];
  }

  /** The question, which a yes under the id will answer. */
  async ask(input: unknown, id: string | undefined): Promise<AgentQuestion | undefined> {
    const question = await this.#questionOf(this.#tool, input);
    if (question && id !== undefined) this.#remember(id, question);
    return question;
  }

  /** For the call: the person's yes, where it answers the question that this call will be asked. */
  async optionsOf(
    input: unknown,
    { id, approved }: ApprovedCall,
  ): Promise<Pick<CallOptions, "approver" | "idempotencyKey">> {
    if (id === undefined || approved === undefined) return {};
    if (approved !== "asked" && approved.tool === this.#tool) await this.ask(approved.input, id);
    const question = await this.#questionOf(this.#tool, input);
    if (!question || !this.#spend(id, question)) return {};
    const approver = yesTo(question, this.#approver);
    // The kernel knows a used key over all agents and starts: the same messages get the first result again.
    return approved === "asked" ? { approver } : { approver, idempotencyKey: `approval ${approved.approvalId}` };
  }

  /** The first question under an id is the one that its yes answers. */
  #remember(id: string, question: AgentQuestion): void {
    if (!this.#asked.has(id) && this.#asked.size < mostQuestions)
      this.#asked.set(id, { question, untilMs: Date.now() + validMs, isSpent: false });
  }

  /** Whether a yes under the id answers this question. It answers nothing more afterwards. */
  #spend(id: string, question: AgentQuestion): boolean {
    const entry = this.#asked.get(id);
    if (!entry || entry.isSpent || Date.now() > entry.untilMs || !isSame(entry.question, question)) return false;
    return (entry.isSpent = true);
  }
}

/** A yes to one question. The kernel still refuses a person whom the policy does not name. */
function yesTo(question: AgentQuestion, approver: string): Approver {
  let isOpen = true;
  return async (request) => {
    const isAnswered = isOpen && isSame(request, question);
    isOpen = false;
    if (isAnswered) return { answer: "allow", scope: "once", approver };
    return { answer: "deny", approver, reason: "The approval was for another call." };
  };
}

function isSame(one: AgentQuestion, other: AgentQuestion): boolean {
  return bound.every((name) => JSON.stringify(one[name]) === JSON.stringify(other[name]));
}
