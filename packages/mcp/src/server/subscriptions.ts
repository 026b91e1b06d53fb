import { Shares } from "@keyhole/kernel/context";
import type { OptionNames } from "@keyhole/kernel/foreign";

export interface SubscriptionLimits {
  /** Open streams of `subscriptions/listen` of all callers. Beyond, the caller with the most loses its oldest. Default 1,000. */
  readonly subscriptions?: number;
  /** Of one caller. Beyond, its oldest ends. Default 100. */
  readonly subscriptionsPerCaller?: number;
}

export const subscriptionLimits: OptionNames<SubscriptionLimits> = { subscriptions: 1, subscriptionsPerCaller: 1 };

interface Open {
  readonly caller: string;
  /** Held while the stream is open: Node takes away a request that nothing holds, and its signal then never aborts. */
  readonly requests: readonly Request[];
}

/** Streams on which clients of 2026-07-28 hear of changes. The SDK bounds their number without regard to callers. */
export class Subscriptions {
  /** The oldest first. */
  readonly #open = new Map<AbortController, Open>();
  readonly #shares = new Shares();
  readonly #limits: Required<SubscriptionLimits>;

  constructor({ subscriptions = 1_000, subscriptionsPerCaller = 100 }: SubscriptionLimits) {
    this.#limits = { subscriptions, subscriptionsPerCaller };
  }

  /**
   * Makes room for a stream, and opens it.
   *
   * @param serve answers with the stream, and ends it when the signal of its request aborts
   */
  async open(caller: string, request: Request, serve: (request: Request) => Promise<Response>): Promise<Response> {
    this.#makeRoom(caller);
    const stream = new AbortController();
    const own = new Request(request.url, { method: request.method, headers: request.headers, signal: stream.signal });
    this.#open.set(stream, { caller, requests: [request, own] });
    this.#shares.add(caller, 1);
    const end = (): void => this.#end(stream);
    request.signal.addEventListener("abort", end, { once: true });
    if (request.signal.aborted) end();
    try {
      const { body, status, statusText, headers } = await serve(own);
      if (!body) end();
      return new Response(body && endedBy(body, end), { status, statusText, headers });
    } catch (error) {
      end();
      throw error;
    }
  }

  #makeRoom(caller: string): void {
    const { subscriptions, subscriptionsPerCaller } = this.#limits;
    const isOwn = this.#shares.of(caller) >= subscriptionsPerCaller;
    if (!isOwn && this.#shares.total < subscriptions) return;
    const own = [...this.#open].find(([, open]) => open.caller === caller)?.[0];
    const oldest = isOwn ? own : this.#shares.next(this.#open, (open) => open.caller);
    if (oldest) this.#end(oldest);
  }

  #end(stream: AbortController): void {
    const open = this.#open.get(stream);
    if (open === undefined) return;
    this.#open.delete(stream);
    stream.abort();
    this.#shares.add(open.caller, -1);
  }
}

function endedBy(body: ReadableStream<Uint8Array>, end: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream(
    {
      async pull(stream) {
        const read = await reader.read();
        if (!read.done) return stream.enqueue(read.value);
        end();
        stream.close();
      },
      async cancel(reason) {
        end();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
