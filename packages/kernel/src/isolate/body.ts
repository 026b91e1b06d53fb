import * as limits from "../limits.ts";
import type { Digest, Hash, Hasher } from "../hash/hash.ts";
import { safeErrorField } from "../support/safe-error-field.ts";

/** Why there will be no more of a body that has not ended. */
export interface BodyFault {
  readonly reason: "too-large" | "not-bytes" | "failed";
  /** The text of the source's error. */
  readonly message?: string;
}

/** The body of a call as it is read: cut into pieces, counted and hashed. It reads ahead no more than the chunk that its source gave. */
export class Body {
  readonly #limitBytes: number;
  readonly #source: ReadableStreamDefaultReader<unknown>;
  readonly #hasher: Hasher;
  /** The rest of the chunk, with its expected length: the source can still detach its memory. */
  #rest: Uint8Array = new Uint8Array();
  #restBytes = 0;
  #byteLength = 0;
  #state: "untouched" | "reading" | "whole" | BodyFault = "untouched";

  constructor(limitBytes: number, hash: Hash, source: ReadableStreamDefaultReader<unknown>) {
    this.#limitBytes = limitBytes;
    this.#hasher = hash.hasher();
    this.#source = source;
  }

  /** As `CallPort.read`, with the reason in {@link Body.fault}. */
  async read(): Promise<Uint8Array | undefined> {
    if (this.#state === "untouched") this.#state = "reading";
    for (let chunks = 0; this.#state === "reading" && this.#restBytes === 0; chunks++) {
      if (chunks > limits.emptyChunks) this.#state = { reason: "not-bytes" };
      else await this.#next();
    }
    if (this.#rest.length !== this.#restBytes) this.#state = { reason: "not-bytes" };
    if (this.fault) return undefined;
    // A copy: the hashed bytes leave, with their buffer.
    const piece = new Uint8Array(this.#rest.subarray(0, limits.pieceBytes));
    this.#rest = this.#rest.subarray(piece.length);
    this.#restBytes -= piece.length;
    this.#hasher.update(piece);
    this.#byteLength += piece.length;
    return piece;
  }

  async #next(): Promise<void> {
    let step;
    try {
      step = await this.#source.read();
    } catch (error) {
      this.#state = { reason: "failed", message: safeErrorField(error, "message") ?? "" };
      return;
    }
    try {
      const { done, value } = step;
      if (done) this.#state = "whole";
      else this.#take(value);
    } catch {
      this.#state = { reason: "not-bytes" };
    }
  }

  /** Throws where it is no view of bytes, or its memory is gone. */
  #take(chunk: unknown): void {
    // A Proxy of bytes is an instance of them, and no view.
    if (!(chunk instanceof Uint8Array) || !ArrayBuffer.isView(chunk)) throw new TypeError("no bytes");
    this.#rest = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    this.#restBytes = this.#rest.length;
    if (this.#byteLength + this.#restBytes > this.#limitBytes) this.#state = { reason: "too-large" };
  }

  get fault(): BodyFault | undefined {
    return typeof this.#state === "object" ? this.#state : undefined;
  }

  /** Whether anything of it was asked for: then a second run cannot have all of it. */
  get wasRead(): boolean {
    return this.#state !== "untouched";
  }

  /** The account for the log. */
  get account(): { readonly bodyHash: Digest; readonly bodyBytes: number; readonly whole: boolean } {
    return { bodyHash: this.#hasher.digest(), bodyBytes: this.#byteLength, whole: this.#state === "whole" };
  }
}
