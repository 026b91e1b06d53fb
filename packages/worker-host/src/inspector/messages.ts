import { membersOf } from "@keyhole/kernel/foreign";
import type { InspectorAnswers } from "./answers.ts";

/** The messages of a page over a port or a channel. Every value of them is foreign. */
export interface Ask {
  /** Of the asking page's own, to tell answers apart. */
  readonly id: number;
  /** With its query. */
  readonly path: string;
  /** JSON; absent where the page reads. */
  readonly body?: string;
}

/** `text` is JSON: a page parses it in bounds, as it does with the answer of an edge. */
interface Answer {
  readonly inspectorAnswer: number;
  readonly status: number;
  readonly text: string;
}

/** Of one reader at once. */
const mostAsks = 16;
const mostOfAsk = 4_000;

/** `undefined` for a message that asks nothing: other parts of a page use the same window. */
export function readAsk(foreign: unknown): Ask | undefined {
  const { inspectorAsk: id, path, body } = membersOf(foreign);
  if (typeof id !== "number" || typeof path !== "string" || path.length > mostOfAsk) return undefined;
  if (body === undefined) return { id, path };
  return typeof body === "string" && body.length <= mostOfAsk ? { id, path, body } : undefined;
}

/** Answers the asks of one reader. A reader that asks for more than {@link mostAsks} at once is told so, and nothing is kept for it. */
export class Asks {
  readonly #answers: InspectorAnswers;
  readonly #send: (answer: Answer) => void;
  #open = 0;
  #isClosed = false;

  constructor(answers: InspectorAnswers, send: (answer: Answer) => void) {
    this.#answers = answers;
    this.#send = send;
  }

  async take({ id, path, body }: Ask): Promise<void> {
    if (this.#open >= mostAsks)
      return this.#end(id, 429, { code: "TOO_MANY_REQUESTS", detail: "Too many asks at once." });
    this.#open++;
    try {
      const answer = body === undefined ? this.#answers.answer(path) : this.#answers.change(path, body);
      const { status, body: given } = await answer;
      this.#end(id, status, given);
    } catch {
      this.#end(id, 503, { code: "AUDIT_UNAVAILABLE", detail: "The log of the kernel is unreadable." });
    } finally {
      this.#open--;
    }
  }

  /** Answers that are on their way go nowhere. */
  close(): void {
    this.#isClosed = true;
  }

  #end(id: number, status: number, body: unknown): void {
    if (!this.#isClosed) this.#send({ inspectorAnswer: id, status, text: JSON.stringify(body) });
  }
}
