/**
 * Lets streams be read with `for await` in every realm (Streams, "asynchronous iteration"): WebKit does not bring it yet, and the same tool has to run
 * there. Does nothing where the engine has it.
 */
export function completeStreams(): void {
  if (typeof ReadableStream !== "function" || Symbol.asyncIterator in ReadableStream.prototype) return;
  for (const key of ["values", Symbol.asyncIterator]) {
    Object.defineProperty(ReadableStream.prototype, key, { value: values, writable: true, configurable: true });
  }
}

async function* values<T>(this: ReadableStream<T>, { preventCancel = false } = {}): AsyncGenerator<T, void> {
  const reader = this.getReader();
  let done = false;
  try {
    for (;;) {
      const step = await reader.read();
      if (step.done) break;
      yield step.value;
    }
    done = true;
  } catch (error) {
    done = true; // A stream that failed has nothing to cancel.
    throw error;
  } finally {
    if (!done && !preventCancel) await reader.cancel();
    reader.releaseLock();
  }
}
