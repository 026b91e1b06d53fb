import type { ApprovalAnswer, ApprovalRequest, Approver, CallResult, Clock, JsonObject } from "@keyhole/kernel";
import { heldBytes, HeldInput, Shares } from "@keyhole/kernel/context";
import { isSameCaller, type McpCaller, nameOf } from "./caller.ts";
import type { StreamHold } from "./held-stream.ts";

/** A call that waits for a person, between two exchanges with its client. */
export class WaitingCall {
  readonly caller: McpCaller;
  readonly outcome: Promise<CallResult>;
  /** Cancels the call itself. */
  readonly cancel: AbortController;
  readonly input: HeldInput;
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
    this.input = new HeldInput(input);
    this.held = held;
    this.outcome = run((request, signal) => this.#ask(request, signal, given)).finally(() => {
      // A question has the arguments.
      this.#question = undefined;
    });
  }

  /** The last question; `undefined` before the first one, and when the call is over. */
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
/** Of arguments and results. */
const MOST_BYTES = 67_108_864;
/** Of a call beside them. */
const CALL_BYTES = 1_024;

interface Kept {
  readonly owner: string;
  readonly call: WaitingCall;
  bytes: number;
  settled: boolean;
  stop: () => void;
}

/** Calls that wait for a person, and results that no client has fetched yet. Bounded in number and bytes, with shares, and in time. */
export class WaitingCalls {
  /** The oldest first. */
  readonly #calls = new Map<string, Kept>();
  readonly #shares = new Shares();
  readonly #bytes = new Shares();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `false` where too many calls wait, of this caller or of all. */
  keep(callId: string, call: WaitingCall): boolean {
    const owner = nameOf(call.caller);
    const bytes = call.input.bytes + CALL_BYTES;
    while (!this.#hasRoom(owner, bytes)) if (!this.#forgetOneFor(owner)) return false;
    const entry: Kept = { owner, call, bytes: 0, settled: false, stop: () => {} };
    this.#calls.set(callId, entry);
    this.#shares.add(owner, 1);
    this.#count(entry, bytes);
    const settle = (more: number): void => {
      entry.settled = true;
      if (this.#calls.get(callId) !== entry) return;
      entry.stop = this.#clock.after(KEPT_MS, () => void this.forget(callId), "idly");
      this.#count(entry, more);
      while (this.#bytes.total > MOST_BYTES && this.#forgetOf(this.#settled()));
    };
    call.outcome.then(
      (result) => settle(bytesOf(result) + (call.held?.byteLength ?? 0)),
      () => settle(0),
    );
    return true;
  }

  find(callId: string, caller: McpCaller): WaitingCall | undefined {
    const call = this.#calls.get(callId)?.call;
    return call && isSameCaller(call.caller, caller) ? call : undefined;
  }

  /** The store gives a result once: `false` where another client has it, or the store dropped it. */
  forget(callId: string): boolean {
    const entry = this.#calls.get(callId);
    if (!entry) return false;
    entry.stop();
    this.#shares.add(entry.owner, -1);
    this.#count(entry, -entry.bytes);
    return this.#calls.delete(callId);
  }

  #hasRoom(owner: string, bytes: number): boolean {
    return !this.#shares.isFull(owner, MOST_CALLS) && !this.#bytes.isFull(owner, MOST_BYTES, bytes);
  }

  /** The oldest result that no client has fetched: the caller's own, or for its first call that of the caller with the most of them. */
  #forgetOneFor(owner: string): boolean {
    const isFirst = this.#shares.of(owner) === 0;
    return this.#forgetOf(this.#settled().filter(([, entry]) => isFirst || entry.owner === owner));
  }

  #forgetOf(settled: readonly (readonly [string, Kept])[]): boolean {
    const shares = new Shares();
    for (const [, { owner, bytes }] of settled) shares.add(owner, bytes);
    const oldest = shares.next(settled, ({ owner }) => owner);
    return oldest !== undefined && this.forget(oldest);
  }

  #settled(): readonly (readonly [string, Kept])[] {
    return [...this.#calls].filter(([, { settled }]) => settled);
  }

  #count(entry: Kept, bytes: number): void {
    entry.bytes += bytes;
    this.#bytes.add(entry.owner, bytes);
  }

  cancelAll(): void {
    for (const [callId, { call }] of this.#calls) {
      call.cancel.abort();
      this.forget(callId);
    }
  }
}

function bytesOf(result: CallResult): number {
  if (!result.ok) return heldBytes(result.error.details);
  return heldBytes(result.data) + heldBytes(result.raw ?? null);
}
