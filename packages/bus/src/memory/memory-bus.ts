import { Faults } from "../faults.ts";
import type { BusMessage } from "../port.ts";
import { connectionOf, type LocalConnection, Router } from "../router.ts";

/** A bus within one program. */
export interface MemoryBus {
  connect(): LocalConnection;
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
  // As over a wire: no listener gets it before the sender continues.
  const send = (message: BusMessage): void => queueMicrotask(() => route(router, message));
  return { connect: () => connectionOf({ router, faults: new Faults(), send }) };
}

function route(router: Router, message: BusMessage): void {
  const queues = router.queuesOf(message.subject);
  const heard = router.deliver(message) + queues.length;
  for (const queue of queues) router.deliverIn(queue, message);
  if (heard > 0 || message.reply === undefined) return;
  const nobody = { reply: undefined, headers: new Map(), body: new Uint8Array(), noResponders: true };
  router.deliver({ subject: message.reply, ...nobody });
}
