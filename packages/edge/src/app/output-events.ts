import { encodeBase64 } from "@keyhole/kernel/foreign";
import type { EventLine } from "./event-stream.ts";

/** Of one event: 64 KiB as base64. A multiple of three, so that only the last one of a piece is padded. */
const eventBytes = 49_152;

/** Takes the bytes of a stream and sends them as events `output`, each one when the client has taken all before it. So a slow client makes the tool wait. */
export function outputEvents({ send, taken }: EventLine): WritableStream<Uint8Array> {
  return new WritableStream({
    async write(piece: Uint8Array, { signal }) {
      for (let start = 0; start < piece.length; start += eventBytes) {
        await taken();
        // The call has its result, which comes last.
        if (signal.aborted) return;
        send("output", { base64: encodeBase64(piece.subarray(start, start + eventBytes)) });
      }
    },
  });
}
