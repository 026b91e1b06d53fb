import type { BrokerSession, BrokerError } from "@keyhole/kernel";
import { bytesOf, GatheredBytes } from "@keyhole/kernel/foreign";

export type ReadBody =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly error: BrokerError };

/**
 * Reads a body to its end, or to the end of the budget. It counts bytes as they leave the decoder,
 * chunk by chunk. So a small compressed body that grows without end stops one chunk past the bound
 * and is never held.
 *
 * @throws the stream's error: a broken connection, a wrong encoding, or the end of the call
 */
export async function readBody(body: ReadableStream<unknown>, session: BrokerSession): Promise<ReadBody> {
  const reader = body.getReader();
  const bytes = new GatheredBytes();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { ok: true, bytes: bytes.take() };
    const chunk = bytesOf(value);
    if (!chunk) throw new TypeError("a body gives bytes");
    const error = session.spend({ networkBytes: chunk.byteLength });
    if (error) {
      // Tells the connection to stop; whether and how it does so changes nothing here.
      reader.cancel().catch(() => {});
      return { ok: false, error };
    }
    bytes.add(chunk);
  }
}
