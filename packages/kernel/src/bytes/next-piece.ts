/**
 * The next piece of a foreign stream. `undefined`: the stream has ended. `late`: none came in time; the caller cancels the reader.
 *
 * @throws the fault of the stream
 */
export async function nextPiece(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  waitMs: number,
): Promise<Uint8Array | "late" | undefined> {
  const late = Promise.withResolvers<"late">();
  const timer = setTimeout(() => late.resolve("late"), waitMs);
  try {
    return await Promise.race([reader.read().then(({ value }) => value), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
