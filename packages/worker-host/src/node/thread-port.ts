import { serialize } from "node:v8";
import type { Worker } from "node:worker_threads";
import type { GuestPort } from "../protocol/channel.ts";
import { protocolLimits } from "../protocol/limits.ts";

/** Of one thread, in one turn of the event loop. Node alone lets each have a thousand, and one that asks without end keeps all others waiting. */
const MESSAGES_AT_ONCE = 16;
/** Of messages that wait for their turn: more than a thousand lines of the greatest length. */
const WAITING_BYTES = 16_777_216;

/** A worker as the port that a channel owns. Its messages come to a listener that the channel can drop. */
export function portOf(worker: Worker): GuestPort {
  let waiting: unknown[] = [];
  /** Without the last one: what ends a call is as large as its output, and seldom has another one behind it. */
  let waitingBytes = 0;
  let left = MESSAGES_AT_ONCE;
  const port: GuestPort = {
    postMessage: (message, options) => worker.postMessage(message, options?.transfer),
    onmessage: null,
    onmessageerror: null,
    close() {
      worker.removeAllListeners("message");
      waiting = [];
    },
  };
  const deliver = (data: unknown): void => {
    if (left === MESSAGES_AT_ONCE) setImmediate(nextTurn);
    left -= 1;
    port.onmessage?.({ data } as MessageEvent);
  };
  const deliverWaiting = (count: number): void => {
    for (const data of waiting.splice(0, count)) deliver(data);
  };
  const nextTurn = (): void => {
    left = MESSAGES_AT_ONCE;
    deliverWaiting(left);
  };
  worker.on("message", (data: unknown) => {
    if (left > 0) return deliver(data);
    waitingBytes = waiting.length === 0 ? 0 : waitingBytes + bytesOf(waiting.at(-1));
    waiting.push(data);
    // More than a call may send: the channel ends it when it hears of them, and waiting for their turn they would fill the memory.
    if (waiting.length > protocolLimits.messages || waitingBytes > WAITING_BYTES) deliverWaiting(waiting.length);
  });
  worker.on("messageerror", (data: unknown) => port.onmessageerror?.({ data } as unknown as MessageEvent));
  return port;
}

function bytesOf(message: unknown): number {
  try {
    return serialize(message).length;
  } catch {
    return Infinity; // A port, or something else that the shell never sends.
  }
}
