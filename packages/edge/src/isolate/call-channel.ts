import { RpcTarget } from "cloudflare:workers";
import type { CallPort, CapabilityReply, IsolateCall, IsolateOutcome } from "@keyhole/kernel";
import {
  type BrokenChannel,
  CallState,
  type Checked,
  endingOf,
  type GuestMessage,
  parseGuestMessage,
} from "@keyhole/worker-host/protocol";
import type { CallProgress } from "./loader.ts";
import { mostPacketBytes, type Packet, packed, unpackedOfGuest } from "./packet.ts";

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
  readonly #state: CallState;

  constructor(call: IsolateCall, port: CallPort) {
    this.#call = call;
    this.#port = port;
    this.#state = new CallState(call, port);
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
    void this.#take(data, (message) =>
      message.type === "log" || message.type === "progress" ? this.#state.report(message) : undefined,
    );
  }

  async request(data: unknown): Promise<CapabilityReply> {
    const reply = await this.#take(data, (message) =>
      message.type === "request" ? this.#state.request(message) : undefined,
    );
    return reply && this.#open ? reply : ended;
  }

  /** One chunk of a stream. Answers after the reader took it: whether the reader wants more. */
  async piece(data: unknown): Promise<boolean> {
    const more = await this.#take(data, (message) =>
      message.type === "piece" ? this.#state.piece(message) : undefined,
    );
    return more === true && this.#open;
  }

  /** Answers with the next piece of the body: without a byte at its end, `undefined` where it broke off. */
  async pull(data: unknown): Promise<Uint8Array | undefined> {
    const bytes = await this.#take(data, (message) => (message.type === "pull" ? this.#state.pull() : undefined));
    return this.#open ? bytes : undefined;
  }

  /** @param check `undefined` for a message that the shell sends another way */
  #take<Answer>(
    data: unknown,
    check: (message: GuestMessage) => Checked<Answer> | undefined,
  ): Promise<Answer> | undefined {
    if (!this.#open) return undefined;
    this.#heard = true;
    const packet = unpackedOfGuest(data);
    const message = packet === undefined ? "no packet" : parseGuestMessage(packet);
    if (typeof message === "string") return this.#protocol(message);
    if (!("callId" in message) || message.callId !== this.#call.callId)
      return this.#protocol("a message for another call");
    const checked = check(message);
    if (checked === undefined) return this.#protocol(`a message of type ${message.type} in another one's place`);
    if (checked.kind === "taken") return checked.answer;
    this.#break(endingOf(checked));
    return undefined;
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
    if (typeof message === "string") return endingOf({ kind: "broken", reason: message });
    const outcome = message.type === "outcome" ? this.#state.returned(message.outcome) : "no outcome";
    return typeof outcome === "string" ? endingOf({ kind: "broken", reason: outcome }) : outcome;
  }

  #protocol(reason: string): undefined {
    this.#break(endingOf({ kind: "broken", reason }));
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
