import type { CallPort, CapabilityReply, IsolateCall, IsolateOutcome } from "@keyhole/kernel";
import { broken, CallState, type Checked, type ProtocolFault } from "./call-state.ts";
import type { GuestMessage, HostMessage } from "./message.ts";
import type { CallHistory } from "./suspended-call.ts";

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

/** One call that runs behind a port: gives the guest the kernel's answers until the call ends. */
export class GuestCall {
  readonly outcome: Promise<IsolateOutcome>;
  readonly #call: IsolateCall;
  readonly #port: CallPort;
  readonly #channel: CallChannel;
  readonly #resolve: (outcome: IsolateOutcome) => void;
  readonly #state: CallState;
  #ended = false;

  constructor(call: IsolateCall, port: CallPort, channel: CallChannel, before: CallHistory) {
    const { promise, resolve } = Promise.withResolvers<IsolateOutcome>();
    this.outcome = promise;
    this.#resolve = resolve;
    this.#call = call;
    this.#port = port;
    this.#channel = channel;
    this.#state = new CallState(call, port, before);
  }

  /** Call it after the guest was sent the call. Asks the kernel again for what has no answer yet, and passes a cancellation on. */
  begin({ outstanding }: CallHistory): void {
    for (const { number, request } of outstanding) this.#reply(number, this.#state.ask(request));
    if (this.#port.signal.aborted) this.#cancel();
    else this.#port.signal.addEventListener("abort", this.#cancel, { once: true });
  }

  /** Handles one message of the guest. */
  hear(message: CallMessage): ProtocolFault | undefined {
    const { callId } = this.#call;
    switch (message.type) {
      case "log":
      case "progress":
        return this.#answered(this.#state.report(message), () => {});
      case "request": {
        const checked = this.#state.request(message);
        if (checked.kind === "taken") return this.#reply(message.request, checked.answer);
        return checked;
      }
      case "piece":
        return this.#answered(this.#state.piece(message), (more) => this.#answer({ type: "taken", callId, more }));
      case "pull":
        return this.#answered(this.#state.pull(), (bytes) =>
          this.#answer({ type: "pulled", callId, bytes }, bytes ? [bytes.buffer as ArrayBuffer] : []),
        );
      case "outcome": {
        const outcome = this.#state.returned(message.outcome);
        if (typeof outcome === "string") return broken(outcome);
        return this.settle(outcome);
      }
    }
  }

  used(usage: Parameters<NonNullable<CallPort["used"]>>[0]): void {
    this.#port.used?.(usage);
  }

  settle(outcome: IsolateOutcome): undefined {
    this.#ended = true;
    this.#port.signal.removeEventListener("abort", this.#cancel);
    this.#channel.ended(this.#call.callId);
    this.#resolve(outcome);
  }

  readonly #cancel = (): void => this.#channel.post({ type: "cancel", callId: this.#call.callId });

  #reply(request: number, answer: Promise<CapabilityReply>): undefined {
    this.#answered({ kind: "taken", answer }, (reply) => {
      const transfer = reply.ok && reply.body ? [reply.body.buffer as ArrayBuffer] : [];
      this.#answer({ type: "reply", callId: this.#call.callId, request, reply }, transfer);
    });
  }

  #answered<Answer>(checked: Checked<Answer>, answer: (value: Answer) => void): ProtocolFault | undefined {
    if (checked.kind !== "taken") return checked;
    checked.answer.then(answer).catch(() => this.#channel.failed());
    return undefined;
  }

  /** Sends nothing after the end of the call. */
  #answer(message: HostMessage, transfer?: ArrayBuffer[]): void {
    if (!this.#ended) this.#channel.post(message, transfer);
  }
}
