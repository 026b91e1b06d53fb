/** Sends one event; its data is JSON on one line. */
export type SendEvent = (event: string, data: unknown) => void;

/** A comment now and then, so that proxies keep the connection and a client that went away is noticed. */
const keepAliveMs = 15_000;

/**
 * Answers with Server-Sent Events (HTML, 9.2) for as long as `run` takes. Its signal aborts when the client goes away. What waits in the stream is bounded by
 * what one call may send.
 */
export function eventStream(run: (send: SendEvent, signal: AbortSignal) => Promise<void>): Response {
  const encoder = new TextEncoder();
  const client = new AbortController();
  let keepAlive: ReturnType<typeof setInterval> | null = null;

  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      const write = (text: string): void => {
        if (!client.signal.aborted) controller.enqueue(encoder.encode(text));
      };
      let id = 0;
      keepAlive = setInterval(() => write(": keep-alive\n\n"), keepAliveMs);
      // Not awaited: a stream is read only once its start is over.
      void run((event, data) => write(`id: ${id++}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`), client.signal).then(
        () => client.signal.aborted || controller.close(),
        (error: unknown) => controller.error(error),
      ).finally(() => clearInterval(keepAlive));
    },
    cancel() {
      clearInterval(keepAlive);
      client.abort(new Error("the client went away"));
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream; charset=utf-8" } });
}
