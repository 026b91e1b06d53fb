import * as limits from "../limits.ts";
import type { IsolateOutcome } from "../isolate/port.ts";
import type { GuestCall, GuestTransport } from "./call.ts";
import { isDetached, tooLarge, unnormalizable } from "./output.ts";

/**
 * Sends the output of a streaming tool chunk by chunk. It requests the next chunk when the
 * transport has room, so the tool makes no more than its caller takes. It ends the tool's stream
 * when the caller takes no more, or when the output is over its bound. Rejects with the error of
 * the stream.
 */
export async function streamOutput(
  value: unknown,
  { outputBytes }: GuestCall,
  transport: GuestTransport,
): Promise<IsolateOutcome> {
  if (!isIterable(value)) return unnormalizable("not-a-stream", "");
  let byteLength = 0;
  let index = 0;
  for await (const piece of value) {
    if (!(piece instanceof Uint8Array)) return unnormalizable("not-bytes", `/${index}`);
    if (isDetached(piece)) return unnormalizable("detached", `/${index}`);
    index++;
    byteLength += piece.byteLength;
    if (byteLength > outputBytes) return tooLarge(outputBytes);
    for (let at = 0; at < piece.byteLength; at += limits.pieceBytes) {
      // A copy: a sent chunk leaves with its buffer, and the tool may fill its own again.
      const part = new Uint8Array(piece.subarray(at, at + limits.pieceBytes));
      if (!(await transport.write?.(part)))
        return { kind: "threw", name: "AbortError", message: "The reader of the stream was cancelled." };
    }
  }
  return { kind: "returned", output: { form: "stream" } };
}

function isIterable(value: unknown): value is AsyncIterable<unknown> | Iterable<unknown> {
  return typeof value === "object" && value !== null && (Symbol.asyncIterator in value || Symbol.iterator in value);
}
