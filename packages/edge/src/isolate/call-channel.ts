import { RpcTarget } from "cloudflare:workers";
import type { CallPort, CapabilityReply, IsolateCall, IsolateOutcome } from "@keyhole/kernel";
import {
  type BodyState,
  checkOutcome,
  type GuestMessage,
  type GuestRequest,
  parseGuestMessage,
  parseRequest,
  pieceFault,
  pullFault,
  protocolLimits,
} from "@keyhole/worker-host/protocol";
import type { CallProgress } from "./loader.ts";
import { mostPacketBytes, type Packet, packed, unpackedOfGuest } from "./packet.ts";

type BrokenChannel = Extract<IsolateOutcome, { kind: "lost" | "too-large" }>;

const ended: CapabilityReply = {
  ok: false,
  error: { code: "CAPABILITY_DENIED", message: "The call has ended.", hint: "" },
};

/** An answer that no message holds. */
const tooLarge = (): CapabilityReply => ({
  ok: false,
  error: {
    code: "BOUNDS_EXCEEDED",
    message: `The answer has more than ${mostPacketBytes} bytes.`,
    hint: "Ask for less in one request.",
  },
});

/** A guest's message, or what is wrong with it. */
function read(data: unknown): GuestMessage | string {
  const message = unpackedOfGuest(data);
  return message === undefined ? "no packet" : parseGuestMessage(message);
}

/** A shell asks for the cancellation, then for the end; a call may be sent to a second shell when the first one died. */
const mostAsked = 4;

/** Over all kernels of this process. */
let begun = 0;

/**
 * The kernel's end of one call in a dynamic Worker: everything that its guest sends while it runs arrives here. As in every host, a message that is
 * not exactly what the shell would send breaks the channel: the shell makes no mistakes, and the tool has no business here.
 */
export class CallChannel implements CallProgress {
  readonly target: CallTarget;
  /** Settles when the guest broke the protocol, and only then. */
  readonly broken: Promise<BrokenChannel>;
  readonly #break: (ending: BrokenChannel) => void;
  readonly #call: IsolateCall;
  readonly #port: CallPort;
  readonly #over = Promise.withResolvers<"ended">();
  #open = true;
  #heard = false;
  #begunAt: number | undefined;
  #begunMs: number | undefined;
  #toldCancelled = false;
  #asked = 0;
  #messages = 0;
  #requests = 0;
  #requestsInFlight = 0;
  #pieces = 0;
  #piecesInFlight = 0;
  #body: BodyState = "open";

  constructor(call: IsolateCall, port: CallPort) {
    this.#call = call;
    this.#port = port;
    const { promise, resolve } = Promise.withResolvers<BrokenChannel>();
    this.broken = promise;
    this.#break = (ending) => {
      this.end();
      resolve(ending);
    };
    this.target = new CallTarget(this);
  }

  /** Whether the guest has sent anything at all: where it has not, nothing that it did can have had an effect. */
  get heard(): boolean {
    return this.#heard;
  }

  /** Only a sandbox that is apart from the kernel says when. */
  get begunAt(): number | undefined {
    return this.#begunAt;
  }

  begin(): void {
    if (this.#begunAt !== undefined) return;
    this.#begunAt = ++begun;
    this.#begunMs = performance.now();
  }

  /** Since its guest began; 0 before that. */
  get ranMs(): number {
    return this.#begunMs === undefined ? 0 : Math.max(1, performance.now() - this.#begunMs);
  }

  /** Revokes everything: from now on requests are refused and messages dropped. Idempotent. */
  end(): void {
    this.#open = false;
    this.#over.resolve("ended");
  }

  /** A log line or a progress report. */
  say(data: unknown): void {
    if (!this.#open) return;
    this.#heard = true;
    const message = read(data);
    if (typeof message === "string") this.#protocol(message);
    else if (message.type !== "log" && message.type !== "progress") this.#protocol("neither a log line nor progress");
    else if (message.callId !== this.#call.callId) this.#protocol("a message for another call");
    else if (this.#messages >= protocolLimits.messages) this.#flood(protocolLimits.messages);
    else this.#pass(message);
  }

  #pass(message: Extract<GuestMessage, { type: "log" | "progress" }>): void {
    this.#messages += 1;
    const { type: _, callId: __, ...said } = message;
    if ("level" in said) this.#port.log(said);
    else this.#port.progress(said);
  }

  async request(data: unknown): Promise<CapabilityReply> {
    if (!this.#open) return ended;
    this.#heard = true;
    const message = read(data);
    if (typeof message === "string") return this.#protocol(message);
    if (message.type !== "request") return this.#protocol("no request");
    return this.#serve(message);
  }

  async #serve(message: GuestRequest): Promise<CapabilityReply> {
    if (message.callId !== this.#call.callId) return this.#protocol("a request for another call");
    if (message.request !== this.#requests) return this.#protocol("a request out of order");
    this.#requests += 1;
    if (this.#requests > protocolLimits.requests) return this.#flood(protocolLimits.requests);
    if (this.#requestsInFlight >= protocolLimits.requestsInFlight) return this.#flood(protocolLimits.requestsInFlight);
    const asked = parseRequest(message);
    if (typeof asked === "string") return this.#protocol(asked);
    this.#requestsInFlight += 1;
    const reply = await this.#port.request(asked);
    this.#requestsInFlight -= 1;
    return this.#open ? reply : ended;
  }

  /** One chunk of a stream. Answers after the reader took it: whether the reader wants more. */
  async piece(data: unknown): Promise<boolean> {
    if (!this.#open) return false;
    this.#heard = true;
    const message = read(data);
    if (typeof message === "string") return this.#broken(message);
    if (message.type !== "piece") return this.#broken("no piece");
    if (message.callId !== this.#call.callId) return this.#broken("a piece for another call");
    const fault = pieceFault({ call: this.#call, pieces: this.#pieces, piecesInFlight: this.#piecesInFlight }, message);
    if (fault !== undefined) return this.#broken(fault);
    this.#pieces += 1;
    this.#piecesInFlight += 1;
    const more = await (this.#port.write?.(message.bytes) ?? false);
    this.#piecesInFlight -= 1;
    return more && this.#open;
  }

  /** Answers with the next piece of the body: without a byte at its end, `undefined` where it broke off. */
  async pull(data: unknown): Promise<Uint8Array | undefined> {
    if (!this.#open) return undefined;
    this.#heard = true;
    const message = read(data);
    const fault =
      typeof message === "string"
        ? message
        : message.type !== "pull" || message.callId !== this.#call.callId
          ? "no pull of this call"
          : pullFault({ call: this.#call, body: this.#body });
    if (fault !== undefined) {
      this.#broken(fault);
      return undefined;
    }
    this.#body = "pulled";
    const bytes = await this.#port.read?.();
    this.#body = bytes?.length ? "open" : "over";
    return this.#open ? bytes : undefined;
  }

  #broken(reason: string): false {
    this.#protocol(reason);
    return false;
  }

  /** Waits for the next thing that the guest has to know. */
  async next(): Promise<"cancelled" | "ended"> {
    if (!this.#open) return "ended";
    this.#asked += 1;
    if (this.#asked > mostAsked) {
      this.#protocol("it polls without end");
      return "ended";
    }
    if (this.#toldCancelled) return this.#over.promise;
    const { signal } = this.#port;
    let cancel = (): void => {};
    const cancelled = new Promise<"cancelled">((resolve) => {
      cancel = () => {
        this.#toldCancelled = true;
        resolve("cancelled");
      };
      if (signal.aborted) cancel();
      else signal.addEventListener("abort", cancel, { once: true });
    });
    const word = await Promise.race([cancelled, this.#over.promise]);
    signal.removeEventListener("abort", cancel);
    return word;
  }

  /** The guest's return value at its end; anything that is no outcome of this call is a breach. */
  outcomeOf(data: unknown): IsolateOutcome {
    const { callId } = this.#call;
    const message = parseGuestMessage({ type: "outcome", callId, outcome: data });
    if (typeof message === "string") return { kind: "lost", reason: `protocol: ${message}` };
    const outcome = message.type === "outcome" ? checkOutcome(message.outcome, this.#call) : undefined;
    if (outcome?.kind === "returned" && this.#piecesInFlight > 0)
      return { kind: "lost", reason: "protocol: an end before all bytes were taken" };
    return outcome ?? { kind: "lost", reason: "protocol: an output of another kind than the tool's" };
  }

  #protocol(reason: string): CapabilityReply {
    this.#break({ kind: "lost", reason: `protocol: ${reason}` });
    return ended;
  }

  #flood(limit: number): CapabilityReply {
    this.#break({ kind: "too-large", what: "messages", limit });
    return ended;
  }
}

/** The kernel's end of a call, as a guest's shell has it. */
export interface CallEnd {
  say(message: Packet): Promise<void>;
  request(message: Packet): Promise<Packet>;
  piece(message: Packet): Promise<boolean>;
  pull(message: Packet): Promise<Uint8Array | undefined>;
  next(): Promise<"cancelled" | "ended">;
}

/** The only thing of the kernel that a guest can reach, and all that it can do with it. Never throws: an exception would cross as it is. */
export class CallTarget extends RpcTarget implements CallEnd {
  readonly #channel: CallChannel;

  constructor(channel: CallChannel) {
    super();
    this.#channel = channel;
  }

  /** The registry calls it before code of the guest runs, which may never yield. */
  async begin(): Promise<void> {
    this.#channel.begin();
  }

  async say(message: unknown): Promise<void> {
    this.#channel.say(message);
  }

  async request(message: unknown): Promise<Packet> {
    return packed(await this.#channel.request(message), tooLarge);
  }

  piece(message: unknown): Promise<boolean> {
    return this.#channel.piece(message);
  }

  pull(message: unknown): Promise<Uint8Array | undefined> {
    return this.#channel.pull(message);
  }

  next(): Promise<"cancelled" | "ended"> {
    return this.#channel.next();
  }
}
