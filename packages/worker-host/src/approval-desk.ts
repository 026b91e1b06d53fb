import type { ApprovalAnswer, ApprovalRequest, Approver } from "@keyhole/kernel";
import { Shares } from "@keyhole/kernel/context";

/** Open questions. Beyond, and beyond its share of them, the desk denies a question of a caller. */
const mostQuestions = 1_000;

interface OpenQuestion {
  readonly request: ApprovalRequest;
  /** Whether it came to {@link ApprovalDesk.approverApart}. */
  readonly isApart: boolean;
}

/** Where questions of a kernel wait for a person. A program shows the open ones, and takes one answer to each. */
export class ApprovalDesk {
  readonly #open = new Map<string, OpenQuestion & { readonly answer: (answer: ApprovalAnswer) => void }>();
  readonly #shares = new Shares();
  /** For the option `approver` of a kernel or a call. */
  readonly approver: Approver = this.#asking(false);
  /** Likewise, for questions of an agent's client: who can call tools does not answer them. */
  readonly approverApart: Approver = this.#asking(true);

  /** The open requests, oldest first. */
  list(): readonly ApprovalRequest[] {
    return [...this.#open.values()].map(({ request }) => request);
  }

  /** The open question with this id. */
  find(approvalId: string): OpenQuestion | undefined {
    return this.#open.get(approvalId);
  }

  /** Answers once. `false` where no question of this id is open. */
  answer(approvalId: string, answer: ApprovalAnswer): boolean {
    const open = this.#open.get(approvalId);
    open?.answer(answer);
    return open !== undefined;
  }

  #asking(isApart: boolean): Approver {
    const ask = (request: ApprovalRequest, signal: AbortSignal) => this.#ask(request, isApart, signal);
    return Object.assign(ask, { concurrent: true });
  }

  #ask(request: ApprovalRequest, isApart: boolean, signal: AbortSignal): Promise<ApprovalAnswer> {
    const { approvalId, caller } = request;
    const denied = (reason: string) => ({ answer: "deny", approver: "desk", reason }) as const;
    if (this.#shares.isFull(caller, mostQuestions)) return Promise.resolve(denied("Too many questions are open."));
    const { promise, resolve } = Promise.withResolvers<ApprovalAnswer>();
    const answer = (given: ApprovalAnswer): void => {
      signal.removeEventListener("abort", close);
      this.#open.delete(approvalId);
      this.#shares.add(caller, -1);
      resolve(given);
    };
    // The call ended, the question expired or the mode went on: a late answer finds nothing.
    const close = (): void => answer(denied("The question is no longer open."));
    this.#open.set(approvalId, { request, isApart, answer });
    this.#shares.add(caller, 1);
    if (signal.aborted) close();
    else signal.addEventListener("abort", close, { once: true });
    return promise;
  }
}
