import type { CallPort, CapabilityRequest, IsolateCall, IsolateOutcome } from "@keyhole/kernel";
import { protocolLimits } from "./limits.ts";
import type { GuestMessage, GuestOutcome, GuestPiece, GuestRequest, HostMessage } from "./message.ts";
import { parseRequest } from "./parse.ts";
import { checkOutcome, pieceFault, pullFault, type StreamState } from "./stream-state.ts";
import type { CallHistory } from "./suspended-call.ts";

/** Why a message of the guest ends its channel. */
export type ProtocolFault =
  | { readonly kind: "broken"; readonly reason: string }
  /** The guest sent more than `limit` of something. */
  | { readonly kind: "flooded"; readonly limit: number };

/** A message of a guest about one call. */
export type CallMessage = Extract<GuestMessage, { readonly callId: string }>;

/** The parts of the channel that one call uses. */
export interface CallChannel {
  post(message: HostMessage, transfer?: ArrayBuffer[]): void;
  /** Reports that an answer of the kernel could not be sent: without it the guest would wait for ever. */
  failed(): void;
  /** The call has its outcome. */
  ended(callId: string): void;
}

export function broken(reason: string): ProtocolFault {
  return { kind: "broken", reason };
}

/** One call that runs in a guest: checks every message of it, and gives the guest the kernel's answers until the call ends. */
export class GuestCall {
  readonly outcome: Promise<IsolateOutcome>;
  readonly #call: IsolateCall;
  readonly #port: CallPort;
  readonly #channel: CallChannel;
  readonly #resolve: (outcome: IsolateOutcome) => void;
  readonly #stream: StreamState;
  #ended = false;
  #messages: number;
  #requests: number;
  #requestsInFlight = 0;

  constructor(call: IsolateCall, port: CallPort, channel: CallChannel, { messages, requests }: CallHistory) {
    const { promise, resolve } = Promise.withResolvers<IsolateOutcome>();
    this.outcome = promise;
    this.#resolve = resolve;
    this.#call = call;
    this.#port = port;
    this.#channel = channel;
    this.#stream = { call, pieces: 0, piecesInFlight: 0, body: "open" };
    this.#messages = messages;
    this.#requests = requests;
  }

  /** Call it after the guest was sent the call. Asks the kernel again for what has no answer yet, and passes a cancellation on. */
  begin({ outstanding }: CallHistory): void {
    for (const { number, request } of outstanding) this.#ask(number, request);
    if (this.#port.signal.aborted) this.#cancel();
    else this.#port.signal.addEventListener("abort", this.#cancel, { once: true });
  }

  /** Handles one message of the guest. */
  hear(message: CallMessage): ProtocolFault | undefined {
    switch (message.type) {
      case "log":
        return this.#report(() => this.#port.log({ level: message.level, message: message.message }));
      case "progress": {
        const { type: _, callId: __, ...progress } = message;
        return this.#report(() => this.#port.progress(progress));
      }
      case "request":
        return this.#request(message);
      case "piece":
        return this.#piece(message);
      case "pull":
        return this.#pull();
      case "outcome":
        return this.#returned(message.outcome);
    }
  }

  used(usage: Parameters<NonNullable<CallPort["used"]>>[0]): void {
    this.#port.used?.(usage);
  }

  settle(outcome: IsolateOutcome): void {
    this.#ended = true;
    this.#port.signal.removeEventListener("abort", this.#cancel);
    this.#channel.ended(this.#call.callId);
    this.#resolve(outcome);
  }

  readonly #cancel = (): void => this.#channel.post({ type: "cancel", callId: this.#call.callId });

  #report(pass: () => void): ProtocolFault | undefined {
    this.#messages += 1;
    const limit = protocolLimits.messages;
    if (this.#messages > limit) return { kind: "flooded", limit };
    pass();
    return undefined;
  }

  #request(message: GuestRequest): ProtocolFault | undefined {
    if (message.request !== this.#requests) return broken("a request out of order");
    this.#requests += 1;
    const { requests, requestsInFlight } = protocolLimits;
    if (this.#requests > requests) return { kind: "flooded", limit: requests };
    if (this.#requestsInFlight >= requestsInFlight) return { kind: "flooded", limit: requestsInFlight };
    const request = parseRequest(message);
    if (typeof request === "string") return broken(request);
    this.#ask(message.request, request);
    return undefined;
  }

  #ask(request: number, asked: CapabilityRequest): void {
    this.#requestsInFlight += 1;
    const answered = this.#port.request(asked).then((reply) => {
      this.#requestsInFlight -= 1;
      const transfer = reply.ok && reply.body ? [reply.body.buffer as ArrayBuffer] : [];
      this.#answer({ type: "reply", callId: this.#call.callId, request, reply }, transfer);
    });
    answered.catch(() => this.#channel.failed());
  }

  #piece(message: GuestPiece): ProtocolFault | undefined {
    const fault = pieceFault(this.#stream, message);
    if (fault !== undefined) return broken(fault);
    this.#stream.pieces += 1;
    this.#stream.piecesInFlight += 1;
    const taken = this.#port.write?.(message.bytes) ?? Promise.resolve(false);
    const answered = taken.then((more) => {
      this.#stream.piecesInFlight -= 1;
      this.#answer({ type: "taken", callId: this.#call.callId, more });
    });
    answered.catch(() => this.#channel.failed());
    return undefined;
  }

  #pull(): ProtocolFault | undefined {
    const fault = pullFault(this.#stream);
    if (fault !== undefined) return broken(fault);
    this.#stream.body = "pulled";
    const answered = (this.#port.read?.() ?? Promise.resolve(undefined)).then((bytes) => {
      this.#stream.body = bytes?.length ? "open" : "over";
      const transfer = bytes ? [bytes.buffer as ArrayBuffer] : [];
      this.#answer({ type: "pulled", callId: this.#call.callId, bytes }, transfer);
    });
    answered.catch(() => this.#channel.failed());
    return undefined;
  }

  #returned(outcome: GuestOutcome): ProtocolFault | undefined {
    if (outcome.kind === "returned" && this.#stream.piecesInFlight > 0)
      return broken("an end before all of it was taken");
    const checked = checkOutcome(outcome, this.#call);
    if (checked === undefined) return broken("an output of another kind than the tool's");
    this.settle(checked);
    return undefined;
  }

  /** Sends nothing after the end of the call. */
  #answer(message: HostMessage, transfer?: ArrayBuffer[]): void {
    if (!this.#ended) this.#channel.post(message, transfer);
  }
}
