import { protocolLimits } from "../protocol/limits.ts";
import type { GuestMessage } from "../protocol/message.ts";

/**
 * The output of one call, chunk by chunk, never ahead of the host's credit. A writer waits for one
 * chunk before the next.
 */
export class PieceChannel {
  readonly #callId: string;
  readonly #post: (message: GuestMessage, transfer: ArrayBuffer[]) => void;
  #sent = 0;
  #inFlight = 0;
  #wanted = true;
  #wake = (): void => {};

  constructor(callId: string, post: (message: GuestMessage, transfer: ArrayBuffer[]) => void) {
    this.#callId = callId;
    this.#post = post;
  }

  /** Sends the bytes with their buffer. `false`: the caller takes no more. */
  async write(bytes: Uint8Array): Promise<boolean> {
    while (this.#wanted && this.#inFlight >= protocolLimits.piecesInFlight) await this.#change();
    if (!this.#wanted) return false;
    this.#inFlight += 1;
    const message = { type: "piece", callId: this.#callId, piece: this.#sent++, bytes } as const;
    this.#post(message, [bytes.buffer as ArrayBuffer]);
    return true;
  }

  /** Resolves when the caller has taken all sent chunks, or takes no more. */
  async drained(): Promise<void> {
    while (this.#wanted && this.#inFlight > 0) await this.#change();
  }

  taken(more: boolean): void {
    this.#inFlight -= 1;
    this.#wanted &&= more;
    this.#wake();
  }

  stop(): void {
    this.#wanted = false;
    this.#wake();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve));
  }
}
