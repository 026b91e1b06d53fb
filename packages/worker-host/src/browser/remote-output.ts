import type { CallOptions, CallResult } from "@keyhole/kernel";
import * as Comlink from "comlink";

type Output = NonNullable<CallOptions["output"]>;

/** The page's end of an output that is a stream: the kernel's worker sends the pieces one by one, and waits for each. */
export class PageOutput {
  readonly #writer: ReturnType<Output["getWriter"]> | undefined;

  /** @param tell called when the stream takes no more */
  constructor(output: Output, tell: () => void) {
    try {
      this.#writer = output.getWriter();
      this.#writer.closed.catch(tell);
    } catch {
      // A foreign option. The kernel refuses the call.
    }
  }

  get isUsable(): boolean {
    return this.#writer !== undefined;
  }

  async write(piece: Uint8Array): Promise<void> {
    await this.#writer?.write(piece);
  }

  /** As the kernel itself ends it. */
  async end(result: CallResult | undefined): Promise<void> {
    try {
      if (result?.ok && !result.meta.cached) await this.#writer?.close();
      else
        await this.#writer?.abort(new Error(result?.ok === false ? result.error.message : "The answer has no bytes."));
    } catch {
      // The other end belongs to the caller.
    }
  }
}

/** The worker's end. */
export function remoteOutput(write: (piece: Uint8Array) => Promise<void>): Output {
  return new WritableStream({ write: (piece) => write(Comlink.transfer(piece, [piece.buffer])) });
}
