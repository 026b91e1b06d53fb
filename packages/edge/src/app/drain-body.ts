import { nextPiece } from "@keyhole/kernel/foreign";
import type { MiddlewareHandler } from "hono";

/**
 * Of one request: the limit of Cloudflare's smaller plans, 100 MB. The service stores no part of it. With a smaller bound, wrangler's proxy failed the next request of
 * any client.
 */
const DRAINED_BYTES = 100_000_000;
/** A client that is silent for so long waits for its answer. curl is for a second, before a body that it has announced. */
const SILENT_MS = 3_000;
/** Of one request: a slow sender must not hold it for ever. */
const DRAIN_MS = 30_000;

/**
 * Reads the unwanted rest of a request's body to its end. An answer that goes out before ends the connection of a client that still sends, and is lost with it; so every answer
 * comes after. Never rejects.
 */
export async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const untilMs = Date.now() + DRAIN_MS;
  let byteLength = 0;
  try {
    while (byteLength <= DRAINED_BYTES && Date.now() < untilMs) {
      const piece = await nextPiece(reader, SILENT_MS);
      if (piece === undefined || piece === "late") break;
      byteLength += piece.byteLength;
    }
    await reader.cancel();
  } catch {
    // The client has gone.
  }
}

/** Of requests with an untouched body. The part that begins to read a body reads it to its end. */
export const drainUntouched: MiddlewareHandler = async ({ req: { raw } }, next) => {
  await next();
  const body: ReadableStream<Uint8Array> | null = raw.body;
  if (body && !raw.bodyUsed && !body.locked) await drain(body.getReader());
};
