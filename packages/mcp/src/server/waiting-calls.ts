import type { ApprovalAnswer, ApprovalRequest, Approver, CallResult, Clock, JsonObject } from "@keyhole/kernel";
import { Shares } from "@keyhole/kernel/context";
import { isSameCaller, type McpCaller, nameOf } from "./caller.ts";
import type { StreamHold } from "./held-stream.ts";

/** A call that waits for a person, between two exchanges with its client. */
export class WaitingCall {
  readonly caller: McpCaller;
  readonly outcome: Promise<CallResult>;
  /** Cancels the call itself. */
  readonly cancel: AbortController;
  readonly input: JsonObject;
  /** Where its output is a stream. */
  readonly held: StreamHold | undefined;
  #question: ApprovalRequest | undefined;
  #decline: (reason: string) => void = () => {};
  #asked = Promise.withResolvers<undefined>();

  constructor(
    caller: McpCaller,
    cancel: AbortController,
    run: (approver: Approver) => Promise<CallResult>,
    given: Approver,
    input: JsonObject,
    held: StreamHold | undefined,
  ) {
    this.caller = caller;
    this.cancel = cancel;
    this.input = input;
    this.held = held;
    this.outcome = run((request, signal) => this.#ask(request, signal, given));
  }

  /** The last question. */
  get question(): ApprovalRequest | undefined {
    return this.#question;
  }

  /** Resolves with the next question. An approver can edit the arguments of a call, and then it is asked again. */
  get asked(): Promise<undefined> {
    return this.#asked.promise;
  }

  /** A refusal by the client counts. Its consent does not: it says that a page was opened. */
  decline(reason: string): void {
    this.#decline(reason);
  }

  #ask(request: ApprovalRequest, signal: AbortSignal, given: Approver): Promise<ApprovalAnswer> {
    const declined = Promise.withResolvers<ApprovalAnswer>();
    const over = new AbortController();
    this.#question = request;
    this.#decline = (reason) => {
      declined.resolve({ answer: "deny", approver: "client", reason });
      over.abort();
    };
    this.#asked.resolve(undefined);
    this.#asked = Promise.withResolvers<undefined>();
    return Promise.race([given(request, AbortSignal.any([signal, over.signal])), declined.promise]);
  }
}

/** A result that no client fetches is kept as long as the state that leads to it. */
const KEPT_MS = 600_000;
const MOST_CALLS = 1_000;

/** Calls that wait for a person, and results that no client has fetched yet. Bounded in number and time. */
export class WaitingCalls {
  readonly #calls = new Map<string, { readonly call: WaitingCall; settled: boolean; stop: () => void }>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `false` where too many calls wait. */
  keep(callId: string, call: WaitingCall): boolean {
    if (this.#calls.size >= MOST_CALLS && !this.#forgetOne()) return false;
    const entry = { call, settled: false, stop: () => {} };
    this.#calls.set(callId, entry);
    const settle = (): void => {
      entry.settled = true;
      entry.stop = this.#clock.after(KEPT_MS, () => void this.forget(callId), "idly");
    };
    call.outcome.then(settle, settle);
    return true;
  }

  find(callId: string, caller: McpCaller): WaitingCall | undefined {
    const call = this.#calls.get(callId)?.call;
    return call && isSameCaller(call.caller, caller) ? call : undefined;
  }

  /** The store gives a result once: `false` where another client has it, or the store dropped it. */
  forget(callId: string): boolean {
    this.#calls.get(callId)?.stop();
    return this.#calls.delete(callId);
  }

  /** The oldest result that no client has fetched, of the caller with the most of them. */
  #forgetOne(): boolean {
    const settled = [...this.#calls].filter((entry) => entry[1].settled);
    const shares = new Shares();
    for (const [, { call }] of settled) shares.add(nameOf(call.caller), 1);
    const oldest = shares.next(settled, ({ call }) => nameOf(call.caller));
    return oldest !== undefined && this.forget(oldest);
  }

  cancelAll(): void {
    for (const { call } of this.#calls.values()) call.cancel.abort();
    this.#calls.clear();
  }
}
