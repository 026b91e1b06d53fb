import { Faults } from "../faults.ts";
import type { BusMessage, BusPort, OutgoingMessage } from "../port.ts";
import { Router } from "../router.ts";

const BODY_BYTES = 1_048_576;

/** A connection to a bus in memory. */
export interface MemoryConnection extends BusPort {
  close(): void;
}

/** A bus within one program. */
export interface MemoryBus {
  connect(): MemoryConnection;
}

/**
 * A bus in memory: for tests, and for kernels of one program.
 *
 * @example
 * const bus = memoryBus();
 * const served = await serveOnBus(kernel, bus.connect(), { callers: everyCaller({ caller: "page" }) });
 */
export function memoryBus(): MemoryBus {
  const router = new Router();
  return { connect: () => new Connection(router) };
}

class Connection implements MemoryConnection {
  readonly bodyBytes = BODY_BYTES;
  readonly #router: Router;
  readonly #faults = new Faults();
  readonly #stops = new Set<() => void>();
  #isOpen = true;

  constructor(router: Router) {
    this.#router = router;
  }

  get isConnected(): boolean {
    return this.#isOpen;
  }

  publish(subject: string, { reply, headers, body }: OutgoingMessage): void {
    if (!this.#isOpen) throw new Error("The connection to the bus is closed.");
    if (body.length > BODY_BYTES) throw new RangeError(`A body has at most ${BODY_BYTES} bytes; got ${body.length}.`);
    const message = { subject, reply, headers: new Map(headers), body: body.slice(), noResponders: false };
    // As over a wire: no listener gets it before the sender continues.
    queueMicrotask(() => this.#route(message));
  }

  subscribe(
    pattern: string,
    listener: (message: BusMessage) => void,
    { queue }: { readonly queue?: string } = {},
  ): () => void {
    const stop = this.#router.add(pattern, (message) => this.#faults.guard(() => listener(message)), queue);
    this.#stops.add(stop);
    return stop;
  }

  async flush(): Promise<void> {
    if (!this.#isOpen) throw new Error("The connection to the bus is closed.");
  }

  onReconnect(): () => void {
    return () => {};
  }

  onFault(listener: (error: Error) => void): () => void {
    return this.#faults.listen(listener);
  }

  close(): void {
    this.#isOpen = false;
    for (const stop of this.#stops) stop();
  }

  #route(message: BusMessage): void {
    const queues = this.#router.queuesOf(message.subject);
    const heard = this.#router.deliver(message) + queues.length;
    for (const queue of queues) this.#router.deliverIn(queue, message);
    if (heard > 0 || message.reply === undefined) return;
    const nobody = { reply: undefined, headers: new Map(), body: new Uint8Array(), noResponders: true };
    this.#router.deliver({ subject: message.reply, ...nobody });
  }
}
