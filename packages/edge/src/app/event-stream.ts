/** Sends one event; its data is JSON on one line. */
export type SendEvent = (event: string, data: unknown) => void;

/** One answer in events, as who writes it sees it. */
export interface EventLine {
  readonly send: SendEvent;
  /** Resolves when all sent bytes have left for the client, or the client has gone: an unbounded sender waits for it. Never rejects. */
  readonly taken: () => Promise<void>;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
}

/**
 * A comment now and then keeps proxies from closing the connection. It is also how a proxy that only writes (wrangler's among them) finds out, and tells us, that
 * the client has gone.
 */
const keepAliveMs = 1_000;

/**
 * Answers with Server-Sent Events (HTML, 9.2) for as long as `run` takes. The messages of one call and `taken` bound the waiting bytes.
 *
 * @param clientGone aborts with the request; together with the stream's own cancellation it becomes the signal of the line
 */
export function eventStream(clientGone: AbortSignal, run: (line: EventLine) => Promise<void>): Response {
  const encoder = new TextEncoder();
  const client = new AbortController();
  let waiting: PromiseWithResolvers<void> | undefined;
  const wake = (): void => {
    waiting?.resolve();
    waiting = undefined;
  };
  const leave = (): void => {
    client.abort(new Error("the client went away"));
    wake();
  };
  if (clientGone.aborted) leave();
  else clientGone.addEventListener("abort", leave, { once: true });

  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const write = (text: string): void => {
        if (!client.signal.aborted) controller.enqueue(encoder.encode(text));
      };
      let id = 0;
      const send: SendEvent = (event, data) => write(`id: ${id++}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
      const taken = async (): Promise<void> => {
        if (client.signal.aborted || (controller.desiredSize ?? 0) > 0) return;
        await (waiting ??= Promise.withResolvers()).promise;
      };
      const keepAlive = setInterval(() => write(": still here\n\n"), keepAliveMs);
      // Not awaited: no reader reads before the end of the start.
      void run({ send, taken, signal: client.signal })
        .then(
          () => client.signal.aborted || controller.close(),
          (error: unknown) => controller.error(error),
        )
        .finally(() => clearInterval(keepAlive));
    },
    // Asked for only while nothing waits.
    pull: wake,
    cancel: leave,
  });
  return new Response(body, { headers: { "content-type": "text/event-stream; charset=utf-8" } });
}
