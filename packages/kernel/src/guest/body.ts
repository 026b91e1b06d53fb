import type { GuestTransport } from "./call.ts";

// Taken before the tool is loaded, which may replace it. QuickJS has none.
const Stream = typeof ReadableStream === "function" ? ReadableStream<Uint8Array> : undefined;

/** The body of a call, piece by piece: the next one comes when the tool reads. */
export function bodyOf(transport: GuestTransport): AsyncIterable<Uint8Array> {
  const read = async (): Promise<Uint8Array> => {
    const piece = await transport.read?.();
    if (piece) return piece;
    throw Object.assign(new Error("The body is missing or its stream failed."), { name: "AbortError" });
  };
  if (!Stream || !(Symbol.asyncIterator in Stream.prototype)) return pieces(read);
  return new Stream(
    {
      async pull(controller) {
        const piece = await read();
        if (piece.length > 0) controller.enqueue(piece);
        else controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

async function* pieces(read: () => Promise<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (let piece = await read(); piece.length > 0; piece = await read()) yield piece;
}
