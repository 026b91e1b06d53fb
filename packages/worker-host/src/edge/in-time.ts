import { EdgeFault } from "./fault.ts";

/** The result of the work, or `EDGE_SILENT` after this time. The work itself continues. */
export async function inTime<T>(work: Promise<T>, withinMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(silent(withinMs)), withinMs);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {}); // Of work that lost the race nobody hears.
  }
}

/** The result of the work, or the reason of a signal that aborts first: a `fetch` that a user gives may not listen to it. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | null | undefined): Promise<T> {
  if (!signal) return work;
  const { promise: left, reject } = Promise.withResolvers<never>();
  const leave = (): void => reject(signal.reason);
  if (signal.aborted) leave();
  else signal.addEventListener("abort", leave, { once: true });
  try {
    return await Promise.race([work, left]);
  } finally {
    signal.removeEventListener("abort", leave);
    work.catch(() => {}); // Nobody hears of work that lost the race.
  }
}

/** Reads a complete body within this time. Every earlier end releases the body. */
export async function hurried(
  body: ReadableStream<Uint8Array>,
  withinMs: number,
  take: (piece: Uint8Array) => void,
): Promise<void> {
  // Not every browser iterates over a stream.
  const reader = body.getReader();
  const reading = async (): Promise<void> => {
    for (let read = await reader.read(); !read.done; read = await reader.read()) take(read.value);
  };
  try {
    await inTime(reading(), withinMs);
  } catch (error) {
    reader.cancel().catch(() => {});
    throw error;
  }
}

/** The same bytes. A piece that does not come in time ends them with `EDGE_SILENT`; how long the reader takes does not count. */
export function timed(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  silenceMs: number,
  signal: AbortSignal,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  const { promise: left, reject } = Promise.withResolvers<never>();
  const leave = (): void => reject(new Error("The caller left.", { cause: signal.reason }));
  if (signal.aborted) leave();
  else signal.addEventListener("abort", leave, { once: true });
  left.catch(() => {});
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await Promise.race([inTime(reader.read(), silenceMs), left]);
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          reader.cancel().catch(() => {});
          throw error;
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

function silent(withinMs: number): EdgeFault {
  return new EdgeFault(
    "EDGE_SILENT",
    `The edge said nothing for ${withinMs.toLocaleString("en")} ms.`,
    "The audit log of the edge has the outcome of a call.",
  );
}
