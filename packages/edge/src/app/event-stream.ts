/** Sends one event; its data is JSON on one line. */
export type SendEvent = (event: string, data: unknown) => void;

/**
 * A comment now and then keeps proxies from closing the connection. It is also how a proxy that only writes (wrangler's among them) finds out, and tells us, that
 * the client has gone.
 */
const keepAliveMs = 1_000;

/**
 * Answers with Server-Sent Events (HTML, 9.2) for as long as `run` takes. What waits in the stream is bounded by what one call may send.
 *
 * @param clientGone aborts with the request; together with the stream's own cancellation it becomes the signal of `run`
 */
export function eventStream(
  clientGone: AbortSignal,
  run: (send: SendEvent, signal: AbortSignal) => Promise<void>,
): Response {
  const encoder = new TextEncoder();
  const client = new AbortController();
  const leave = (): void => client.abort(new Error("the client went away"));
  if (clientGone.aborted) leave();
  else clientGone.addEventListener("abort", leave, { once: true });

  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const write = (text: string): void => {
        if (!client.signal.aborted) controller.enqueue(encoder.encode(text));
      };
      let id = 0;
      const send: SendEvent = (event, data) => write(`id: ${id++}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
      const keepAlive = setInterval(() => write(": still here\n\n"), keepAliveMs);
      // Not awaited: nobody reads before the start is over.
      void run(send, client.signal)
        .then(
          () => client.signal.aborted || controller.close(),
          (error: unknown) => controller.error(error),
        )
        .finally(() => clearInterval(keepAlive));
    },
    cancel: leave,
  });
  return new Response(body, { headers: { "content-type": "text/event-stream; charset=utf-8" } });
}
