import type { ApprovalAnswer, ApprovalRequest, JsonValue } from "@keyhole/kernel";

export interface Question {
  readonly request: ApprovalRequest;
  readonly answer: (answer: ApprovalAnswer) => void;
  /** The call that a person allowed this caller with this tool before, in this visit. */
  readonly before: AllowedCall | undefined;
}

/** The call of a tool that a person allowed last. */
export interface AllowedCall {
  readonly input: JsonValue;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

type Asked = Pick<ApprovalRequest, "tool" | "caller" | "input">;

/** Of pairs of a tool and a caller; the oldest go. */
const mostKept = 200;

/** The approvals since the start of the page, for each tool and caller the last. */
export class AllowedBefore {
  readonly #calls = new Map<string, AllowedCall>();

  note({ tool, caller, input }: Asked, answer: ApprovalAnswer, at: number): void {
    if (answer.answer !== "allow") return;
    const key = keyOf(tool, caller);
    this.#calls.delete(key);
    this.#calls.set(key, { input, at });
    for (const oldest of this.#calls.keys()) {
      if (this.#calls.size <= mostKept) break;
      this.#calls.delete(oldest);
    }
  }

  /** Asks a person, and notes the answer. A closed approval denies. */
  ask(
    request: ApprovalRequest,
    signal: AbortSignal,
    { enter, leave }: Readonly<Record<"enter" | "leave", (question: Question) => void>>,
  ): Promise<ApprovalAnswer> {
    return new Promise((resolve) => {
      const question: Question = {
        request,
        before: this.find(request),
        answer: (answer) => {
          this.note(request, answer, Date.now());
          leave(question);
          resolve(answer);
        },
      };
      const withdraw = (): void =>
        question.answer({ answer: "deny", approver: "playground", reason: "Nobody waits for the answer any more." });
      if (signal.aborted) return withdraw();
      signal.addEventListener("abort", withdraw, { once: true });
      enter(question);
    });
  }

  find({ tool, caller }: Pick<Asked, "tool" | "caller">): AllowedCall | undefined {
    return this.#calls.get(keyOf(tool, caller));
  }
}

function keyOf(tool: string, caller: string): string {
  return JSON.stringify([tool, caller]);
}
