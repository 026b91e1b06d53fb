import type { CapabilityReply, OwnRequest } from "../../capability/request.ts";
import type { Ticket } from "../../capability/gate/call-usage.ts";
import type { Gate } from "../../capability/gate/gate.ts";

/** One request of the tool that it has no answer to yet. */
export interface Pending<Child> {
  readonly request: OwnRequest;
  ticket: Ticket;
  /** Whether it is on its way through the gate. */
  isSent: boolean;
  reply: CapabilityReply | undefined;
  /** The call that it makes. */
  child: Child | undefined;
}

/** The continuation of a request from before the suspension. */
export type Again<Child> = Partial<Pick<Pending<Child>, "ticket" | "reply">>;

/**
 * In front of the gate of one run: knows what is on its way, and can pause it. While it is paused, no request goes out and no answer goes in, so that what the tool waits for stands
 * still.
 */
export class Requests<Child> implements Pick<Gate, "request" | "close"> {
  readonly #gate: Pick<Gate, "request" | "close">;
  readonly #again: Again<Child>[];
  readonly #changed: () => void;
  readonly #pending: Pending<Child>[] = [];
  #paused: PromiseWithResolvers<void> | undefined;
  #sending: Pending<Child> | undefined;

  /** @param again for the first requests, in their order */
  constructor(gate: Pick<Gate, "request" | "close">, again: readonly Again<Child>[], changed: () => void) {
    this.#gate = gate;
    this.#again = [...again];
    this.#changed = changed;
  }

  /** In the order of the requests. */
  get pending(): readonly Pending<Child>[] {
    return this.#pending;
  }

  pause(): void {
    this.#paused ??= Promise.withResolvers();
  }

  unpause(): void {
    this.#paused?.resolve();
    this.#paused = undefined;
  }

  /** Marks the requests in progress: the resuming kernel makes them again. Only during a pause. */
  withdraw(): void {
    for (const { isSent, reply, ticket } of this.#pending) if (isSent && !reply) ticket.isWithdrawn = true;
  }

  /** The call of the request that is being sent: it begins in the same turn. */
  begins(child: Child): void {
    if (this.#sending) this.#sending.child = child;
  }

  close(): void {
    this.#gate.close();
  }

  async request(request: OwnRequest): Promise<CapabilityReply> {
    const { ticket = {}, reply } = this.#again.shift() ?? {};
    const pending: Pending<Child> = { request, ticket, isSent: false, reply, child: undefined };
    this.#pending.push(pending);
    this.#changed();
    for (;;) {
      while (this.#paused) await this.#paused.promise;
      if (pending.reply) break;
      await this.#send(pending);
    }
    this.#pending.splice(this.#pending.indexOf(pending), 1);
    return pending.reply;
  }

  async #send(pending: Pending<Child>): Promise<void> {
    const { ticket } = pending;
    pending.isSent = true;
    this.#sending = pending;
    const replying = this.#gate.request(pending.request, ticket);
    this.#sending = undefined;
    const reply = await replying;
    pending.isSent = false;
    // The suspension failed, and the call continues here.
    if (ticket.isWithdrawn) pending.ticket = { ...ticket, isWithdrawn: false };
    else pending.reply = reply;
    this.#changed();
  }
}
