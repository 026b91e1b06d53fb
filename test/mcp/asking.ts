import type { ApprovalAnswer, ApprovalRequest } from "@keyhole/kernel";
import type { McpApprovals } from "@keyhole/mcp";

/** A person with a page: holds each question until it is answered. */
export class Desk implements McpApprovals {
  readonly #open = new Map<string, (answer: ApprovalAnswer) => void>();
  readonly questions: ApprovalRequest[] = [];
  #heard = Promise.withResolvers<ApprovalRequest>();

  readonly approver: McpApprovals["approver"] = (request, signal) => {
    const answered = Promise.withResolvers<ApprovalAnswer>();
    this.#open.set(request.approvalId, answered.resolve);
    this.questions.push(request);
    signal.addEventListener("abort", () => this.#open.delete(request.approvalId));
    this.#heard.resolve(request);
    this.#heard = Promise.withResolvers();
    return answered.promise;
  };

  readonly url: McpApprovals["url"] = ({ approvalId }) => `https://approvals.example/${approvalId}`;

  get open(): readonly string[] {
    return [...this.#open.keys()];
  }

  /** The next question. */
  get asked(): Promise<ApprovalRequest> {
    return this.#heard.promise;
  }

  answer(approvalId: string, answer: "allow" | "deny" | { readonly edit: unknown }): void {
    const resolve = this.#open.get(approvalId);
    this.#open.delete(approvalId);
    if (typeof answer === "object") resolve?.({ answer: "edit", input: answer.edit, approver: "ada" });
    else if (answer === "allow") resolve?.({ answer: "allow", scope: "once", approver: "ada" });
    else resolve?.({ answer: "deny", approver: "ada", reason: "Not today." });
  }
}

export const pageOf = (url: string): string => url.split("/").at(-1) ?? "";
