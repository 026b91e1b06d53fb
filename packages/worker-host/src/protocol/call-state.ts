import type { CallPort, CapabilityReply, CapabilityRequest, IsolateCall, IsolateOutcome } from "@keyhole/kernel";
import { protocolLimits } from "./limits.ts";
import type { GuestMessage, GuestOutcome, GuestPiece, GuestRequest } from "./message.ts";
import { parseRequest } from "./parse.ts";
import { type CallHistory, newCall } from "./suspended-call.ts";

/** Why a message of the guest ends its channel. */
export type ProtocolFault =
  | { readonly kind: "broken"; readonly reason: string }
  /** The guest sent more than `limit` of something. */
  | { readonly kind: "flooded"; readonly limit: number };

/** A message that the kernel has, and its answer. */
export type Checked<Answer> = ProtocolFault | { readonly kind: "taken"; readonly answer: Promise<Answer> };

export type BrokenChannel = Extract<IsolateOutcome, { kind: "lost" | "too-large" }>;

export function broken(reason: string): ProtocolFault {
  return { kind: "broken", reason };
}

/** The end of a call whose guest broke the protocol. */
export function endingOf(fault: ProtocolFault): BrokenChannel {
  return fault.kind === "broken"
    ? { kind: "lost", reason: `protocol: ${fault.reason}` }
    : { kind: "too-large", what: "messages", limit: fault.limit };
}

/** One call that runs in a guest, on every host: checks each message of it against what the shell would send now, and passes it to the kernel. */
export class CallState {
  readonly #call: IsolateCall;
  readonly #port: CallPort;
  #messages: number;
  #requests: number;
  #requestsInFlight = 0;
  #pieces = 0;
  #piecesInFlight = 0;
  /** How far the guest is in the body of its call. */
  #body: "open" | "pulled" | "over" = "open";

  constructor(call: IsolateCall, port: CallPort, { messages, requests }: CallHistory = newCall) {
    this.#call = call;
    this.#port = port;
    this.#messages = messages;
    this.#requests = requests;
  }

  report(message: Extract<GuestMessage, { type: "log" | "progress" }>): Checked<void> {
    this.#messages += 1;
    const limit = protocolLimits.messages;
    if (this.#messages > limit) return { kind: "flooded", limit };
    const { type: _, callId: __, ...said } = message;
    if ("level" in said) this.#port.log(said);
    else this.#port.progress(said);
    return { kind: "taken", answer: Promise.resolve() };
  }

  request(message: GuestRequest): Checked<CapabilityReply> {
    if (message.request !== this.#requests) return broken("a request out of order");
    this.#requests += 1;
    const { requests, requestsInFlight } = protocolLimits;
    if (this.#requests > requests) return { kind: "flooded", limit: requests };
    if (this.#requestsInFlight >= requestsInFlight) return { kind: "flooded", limit: requestsInFlight };
    const request = parseRequest(message);
    return typeof request === "string" ? broken(request) : { kind: "taken", answer: this.ask(request) };
  }

  /** A request that is checked already. */
  ask(request: CapabilityRequest): Promise<CapabilityReply> {
    this.#requestsInFlight += 1;
    return this.#port.request(request).then((reply) => {
      this.#requestsInFlight -= 1;
      return reply;
    });
  }

  /** How many bytes there may be in all is for the kernel to say. The answer says whether the reader wants more. */
  piece({ piece, bytes }: GuestPiece): Checked<boolean> {
    if (this.#call.outputKind !== "stream") return broken("a chunk of an output that is not a stream");
    if (piece !== this.#pieces) return broken("a piece out of order");
    if (this.#piecesInFlight >= protocolLimits.piecesInFlight) return broken("a piece without credit");
    this.#pieces += 1;
    this.#piecesInFlight += 1;
    const taken = this.#port.write?.(bytes) ?? Promise.resolve(false);
    const answer = taken.then((more) => {
      this.#piecesInFlight -= 1;
      return more;
    });
    return { kind: "taken", answer };
  }

  /** The answer is the next piece of the body: without a byte at its end, `undefined` where it broke off. */
  pull(): Checked<Uint8Array | undefined> {
    if (this.#call.hasBody !== true) return broken("a pull in a call without a body");
    if (this.#body === "pulled") return broken("a pull before the last one was answered");
    if (this.#body === "over") return broken("a pull after the end of the body");
    this.#body = "pulled";
    const answer = (this.#port.read?.() ?? Promise.resolve(undefined)).then((bytes) => {
      this.#body = bytes?.length ? "open" : "over";
      return bytes;
    });
    return { kind: "taken", answer };
  }

  /** The outcome of the call, or what is wrong with it. The shell measures before it sends, so an output that is too large is forged. */
  returned(outcome: GuestOutcome): IsolateOutcome | string {
    if (outcome.kind === "threw") {
      const { code, ...threw } = outcome;
      return code === undefined ? threw : { ...threw, code };
    }
    if (outcome.kind !== "returned") return outcome;
    const { output } = outcome;
    const { outputKind, outputBytes } = this.#call;
    if (this.#piecesInFlight > 0) return "an end before all of it was taken";
    if (output.form !== outputKind) return "an output of another kind than the tool's";
    if (output.form === "stream") return outcome;
    const least = output.form === "binary" ? output.bytes.byteLength : output.text.length;
    return least > outputBytes ? { kind: "too-large", what: "output", limit: outputBytes } : outcome;
  }
}
