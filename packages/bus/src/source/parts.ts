import { headers, numberOf } from "../wire/headers.ts";
import type { Answer } from "./inbox.ts";

/** A kernel that sends a result in more has another aim than the result. */
const MOST_PARTS = 10_000;

/** The parts of one result, in their order. A lost part comes again with the complete result. */
export class Parts {
  readonly #mostBytes: number;
  #parts: Uint8Array[] = [];
  #bytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** `false` where the result is larger than the caller takes. */
  add(message: Answer): boolean {
    const sequence = numberOf(message, headers.sequence);
    if (sequence === 1) this.#clear();
    if (sequence !== this.#parts.length + 1) return true;
    this.#bytes += message.body.length;
    if (this.#bytes > this.#mostBytes || sequence > MOST_PARTS) return false;
    this.#parts.push(message.body.slice());
    return true;
  }

  /** The result with the body of all messages; `undefined` where a part is missing. */
  whole(message: Answer): Answer | undefined {
    const count = numberOf(message, headers.parts) ?? 0;
    if (count === 0) return message;
    if (count !== this.#parts.length) {
      this.#clear();
      return undefined;
    }
    const body = new Uint8Array(this.#bytes + message.body.length);
    let at = 0;
    for (const part of [...this.#parts, message.body]) {
      body.set(part, at);
      at += part.length;
    }
    this.#clear();
    return { ...message, body };
  }

  #clear(): void {
    this.#parts = [];
    this.#bytes = 0;
  }
}
