import type { Digest, Hash, Hasher } from "./hash.ts";

type Writer = Pick<WritableStreamDefaultWriter<Uint8Array>, "write" | "closed">;

/**
 * The streaming output of a call: counts and hashes each chunk, and passes it to the caller's
 * stream. It holds no chunk: the sender waits until the caller has taken it.
 */
export class OutputStream {
  readonly limitBytes: number;
  readonly #output: Writer | undefined;
  readonly #hasher: Hasher;
  #byteLength = 0;

  /** @param output where the bytes go; without it they are only counted and hashed */
  constructor(limitBytes: number, hash: Hash, output?: Writer) {
    this.limitBytes = limitBytes;
    this.#hasher = hash.hasher();
    this.#output = output;
  }

  get byteLength(): number {
    return this.#byteLength;
  }

  /** {@link write} of a piece that is admitted; `false` for any other. */
  async keep(piece: Uint8Array): Promise<boolean> {
    const isAdmitted = this.admits(piece);
    if (isAdmitted) await this.write(piece);
    return isAdmitted;
  }

  /** Whether the piece keeps the whole within its limit; one that does not has no effect. */
  admits(piece: Uint8Array): boolean {
    return this.#byteLength + piece.length <= this.limitBytes;
  }

  /** Rejects when the caller's stream takes no more. Pieces reach it in the order of the calls. */
  async write(piece: Uint8Array): Promise<void> {
    // Before it is handed on: from then on its memory is the caller's.
    this.#hasher.update(piece);
    this.#byteLength += piece.length;
    await this.#output?.write(piece);
  }

  /** Calls back when the caller's stream takes no more, also between writes. */
  onRefused(tell: () => void): void {
    this.#output?.closed.then(() => {}, tell);
  }

  /** Of all written bytes. */
  get digest(): Digest {
    return this.#hasher.digest();
  }
}
