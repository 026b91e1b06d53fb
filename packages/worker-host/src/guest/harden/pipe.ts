// Taken before the tool is loaded, which may replace them.
const { apply } = Reflect;
const Stream = typeof ReadableStream === "function" ? ReadableStream : undefined;
const getReader = Stream?.prototype.getReader as () => Reader;
const getWriter = (Stream && WritableStream.prototype.getWriter) as () => Writer;
const isAborted = (Stream && Object.getOwnPropertyDescriptor(AbortSignal.prototype, "aborted")?.get) as () => boolean;

type Reader = ReadableStreamDefaultReader<unknown>;
type Writer = WritableStreamDefaultWriter<unknown>;

/** The last act of a pipe, and the error that it then fails with. */
type End = readonly [act: false | (() => unknown), ...failure: [error?: unknown]];

interface Copying {
  isEnding?: boolean;
  reading?: Promise<unknown>;
  written?: Promise<unknown>;
}

const nothing = (): void => {};

const pipes = {
  async pipeTo(this: ReadableStream, sink: WritableStream, options: StreamPipeOptions = {}): Promise<void> {
    await pipe(this, sink, options);
  },
  pipeThrough(this: ReadableStream, pair: ReadableWritablePair, options: StreamPipeOptions = {}): ReadableStream {
    const { readable, writable } = pair;
    if (!(readable instanceof Stream!)) throw new TypeError("readable is not a ReadableStream");
    pipe(this, writable, options).catch(nothing);
    return readable;
  },
};

/**
 * Puts pipes over readers and writers where the engine's own were: Chromium ends the process of
 * all frames when it ends a worker inside one of its own. They do what Streams says
 * ("ReadableStreamPipeTo"). One difference: a pipe into a stream that others close notices it when
 * the stream is closed, or at the next chunk.
 */
export function hardenPipes(prototype: object | undefined = Stream?.prototype): void {
  if (prototype) Object.assign(prototype, pipes);
}

/** @throws TypeError for what is no stream or is locked, and for options that are none */
function pipe(source: ReadableStream, sink: WritableStream, options: StreamPipeOptions | null): Promise<void> {
  if (options !== null && Object(options) !== options) throw new TypeError("The options are not an object");
  const { preventAbort, preventCancel, preventClose, signal } = options ?? {};
  if (signal !== undefined) apply(isAborted, signal, []);
  const writer = apply(getWriter, sink, []);
  try {
    const prevent = [preventAbort, preventCancel, preventClose] as const;
    return pump(apply(getReader, source, []), writer, prevent, signal);
  } catch (error) {
    writer.releaseLock();
    throw error;
  }
}

async function pump(
  reader: Reader,
  writer: Writer,
  [preventAbort, preventCancel, preventClose]: readonly unknown[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const copying: Copying = {};
  let isDrained = false;
  let settle!: (end: End) => void;
  const ended = new Promise<End>((resolve) => (settle = resolve));
  const end = (...given: End): void => {
    copying.isEnding = true;
    settle(given);
  };
  const fail = (error: unknown): void => end(!preventCancel && (() => reader.cancel(error)), error);
  const sinkClosed = (): void => fail(new TypeError("The destination is closed"));
  const stop = (): void => {
    if (!apply(isAborted, signal, [])) return;
    const reason: unknown = signal!.reason;
    const aborts = (): unknown => !preventAbort && writer.desiredSize !== null && writer.abort(reason);
    end(() => Promise.all([aborts(), !preventCancel && !isDrained && reader.cancel(reason)]), reason);
  };
  signal?.addEventListener("abort", stop);
  if (signal) stop();

  // In the order of the standard: at the start, several of these can be so.
  reader.closed.catch((error: unknown) => {
    isDrained = true;
    end(!preventAbort && (() => writer.abort(error)), error);
  });
  writer.closed.catch(fail);
  reader.closed.then(() => {
    isDrained = true;
    // A stream that is closed already is as good as one that this closes.
    end(!preventClose && (() => writer.close().catch(() => (writer.desiredSize === null ? writer.closed : undefined))));
  }, nothing);
  writer.closed.then(sinkClosed, nothing);
  void copy(reader, writer, copying, sinkClosed);

  const [act, ...failure] = await ended;
  try {
    // What was read is written first. Streams close before they tell their last chunk.
    if (isDrained) await copying.reading?.catch(nothing);
    for (let last; last !== copying.written && writer.desiredSize !== null;)
      await (last = copying.written)?.catch(nothing);
    if (act) await act();
    if (failure.length > 0) throw failure[0];
  } finally {
    writer.releaseLock();
    reader.releaseLock();
    signal?.removeEventListener("abort", stop);
  }
}

async function copy(reader: Reader, writer: Writer, copying: Copying, sinkClosed: () => void): Promise<void> {
  try {
    for (;;) {
      await writer.ready;
      if (copying.isEnding || writer.desiredSize === null) return;
      // Ready without room is only a stream that closes.
      if (writer.desiredSize <= 0) return sinkClosed();
      const reading = (copying.reading = reader.read());
      const { done, value } = await reading;
      if (done) return;
      copying.written = writer.write(value);
      copying.written.catch(() => copying.isEnding || writer.desiredSize === null || sinkClosed());
    }
  } catch {
    // `closed` of the two tells their errors.
  }
}
