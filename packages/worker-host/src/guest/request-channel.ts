import type { CapabilityReply, CapabilityRequest } from "@keyhole/kernel";
import { canonicalize } from "@keyhole/kernel/canonical";
import { protocolLimits } from "../protocol/limits.ts";
import type { GuestMessage, GuestRequest } from "../protocol/message.ts";

interface Pending {
  readonly message: GuestRequest;
  readonly resolve: (reply: CapabilityReply) => void;
}

/**
 * The requests of one call, in their order. Requests above the limit of the protocol wait for an
 * answer to another one.
 */
export class RequestChannel {
  readonly #callId: string;
  readonly #post: (message: GuestMessage, transfer: ArrayBuffer[]) => void;
  readonly #inFlight = new Map<number, Pending["resolve"]>();
  readonly #waiting: Pending[] = [];
  #sent = 0;
  #open = true;

  constructor(callId: string, post: (message: GuestMessage, transfer: ArrayBuffer[]) => void) {
    this.#callId = callId;
    this.#post = post;
  }

  ask(request: CapabilityRequest): Promise<CapabilityReply> {
    if (!this.#open) return Promise.resolve(refused("CANCELLED", "The call has ended."));
    if (this.#sent >= protocolLimits.requests)
      return Promise.resolve(refused("BOUNDS_EXCEEDED", `More than ${protocolLimits.requests} requests in one call.`));
    const message = requestMessage(this.#callId, this.#sent, request);
    if (!("type" in message)) return Promise.resolve(message);
    this.#sent += 1;
    const { promise, resolve } = Promise.withResolvers<CapabilityReply>();
    const pending = { message, resolve };
    if (this.#inFlight.size < protocolLimits.requestsInFlight) this.#send(pending);
    else this.#waiting.push(pending);
    return promise;
  }

  reply(request: number, reply: CapabilityReply): void {
    this.#inFlight.get(request)?.(reply);
    this.#inFlight.delete(request);
    const next = this.#waiting.shift();
    if (next !== undefined && this.#open) this.#send(next);
  }

  /** Afterwards the guest sends no request. */
  close(): void {
    this.#open = false;
  }

  #send({ message, resolve }: Pending): void {
    this.#inFlight.set(message.request, resolve);
    this.#post(message, message.body === undefined ? [] : [message.body.buffer as ArrayBuffer]);
  }
}

function requestMessage(callId: string, request: number, asked: CapabilityRequest): GuestRequest | CapabilityReply {
  const text = canonicalize(asked.arguments, protocolLimits.argumentsDepth);
  if (!text.ok) return refused("INVALID_REQUEST", `The request's arguments cannot be sent: ${text.error.message}.`);
  if (text.text.length > protocolLimits.argumentsLength)
    return refused("INVALID_REQUEST", "The request's arguments are too long.");
  if (asked.body !== undefined && asked.body.byteLength > protocolLimits.bodyBytes) {
    return refused("BOUNDS_EXCEEDED", `A body has at most ${protocolLimits.bodyBytes} bytes.`);
  }
  return {
    type: "request",
    callId,
    request,
    kind: asked.kind,
    operation: asked.operation,
    arguments: text.text,
    // A copy: it leaves with its buffer, and the tool keeps its own.
    ...(asked.body !== undefined && { body: new Uint8Array(asked.body) }),
  };
}

type Refused = Extract<CapabilityReply, { ok: false }>;

function refused(code: Refused["error"]["code"], message: string): Refused {
  return { ok: false, error: { code, message, hint: "" } };
}
