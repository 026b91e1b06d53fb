import type { CallOptions } from "../arrival/call-options.ts";
import type { EventScope } from "../../audit/scope.ts";
import type { BrokerSession } from "../../capability/broker.ts";
import type { Gate } from "../../capability/gate/gate.ts";
import type { Revocation } from "../../capability/revocation.ts";
import type { Body } from "../../isolate/body.ts";
import type { IsolateUsage } from "../../isolate/port.ts";
import * as limits from "../../limits.ts";
import type { Hash } from "../../hash/hash.ts";
import { noChanges, type StateChange } from "../../state/change.ts";
import type { Proof } from "../../policy/proof/proof.ts";
import type { CallError, CallResult } from "../../result.ts";
import { absorb } from "../../support/foreign.ts";
import { type CarriedPart, gatePart } from "./carried-part.ts";
import { endBody, endOutput } from "./end-streams.ts";
import type { Before, CallIdentity } from "../arrival/entry.ts";
import type { Ending } from "../ending/ending.ts";
import { faultText } from "../faults/fault.ts";
import * as texts from "../faults/texts.ts";
import { Origin } from "./origin.ts";
import { Obligations, type Release } from "./obligations.ts";
import type { OwnWriter, ReadOptions } from "../arrival/read-options.ts";
import type { Spent } from "./spent.ts";

/** The call from within which another one is made. It owns the other one. */
export interface Parent {
  readonly call: CallRecord;
  /** `name@version`. */
  readonly toolId: string;
  readonly toolHash: string;
  /** The proof that it runs on. */
  readonly proofId: string;
  /** Aborts when it ends, however it does: nothing of it outlives it. */
  readonly ended: AbortSignal;
  /** Its network budget, on which the calls from within draw as well. */
  readonly spend: BrokerSession["spend"];
  /** Its calls have so much left of the bound that a caller set. A host that counts no fuel still runs them. */
  readonly fuelLeft?: number;
  /** Stops its time, and that of all around it, until the returned function is called. */
  readonly pause: () => () => void;
}

/** Shared by all calls that one call from outside leads to. */
export interface CallTree {
  callsLeft: number;
  /** Log lines and progress of calls from within that the outermost caller still hears. */
  messagesLeft: number;
}

/** Everything that a call has before its first step. */
export interface Arrival extends CallIdentity {
  /** The name that the caller gave, as text: not yet a known tool. */
  readonly toolName: string;
  readonly options: CallOptions;
  /** The fault of the options: with it the call takes over none of them. */
  readonly fault?: ReadOptions["fault"] | undefined;
  readonly output?: OwnWriter | undefined;
  readonly body?: ReadableStreamDefaultReader<unknown> | undefined;
  readonly scope: EventScope;
  /** The kernel's one algorithm. */
  readonly hash: Hash;
  /** On the monotonic clock. */
  readonly arrivedMs: number;
  readonly parent?: Parent | undefined;
  readonly tree: CallTree;
  /** Only of a call that was suspended. */
  readonly before?: Before | undefined;
}

/** The end of a call, for everything that it held. */
export interface CallEnd {
  /** `reused`: another call's outcome answers. `early`: one thing ends before its call does. */
  readonly kind: "succeeded" | "reused" | "failed" | "suspended" | "early";
  /** Absent where one thing ends early. */
  readonly result?: CallResult;
  readonly hasStarted: boolean;
  /** The outcome that other calls may be given: made when it is asked for, because it copies the output. */
  readonly ending: () => Ending | undefined;
}
export type CallRelease = Release<CallEnd>;

/** The part of the last state that the end of a call reports. Every state has it, as far as it came. */
export interface Progress {
  readonly tool?: { readonly id: string };
  readonly proof?: Proof;
  readonly gate?: Pick<Gate, "affect" | "counts">;
  readonly attempt?: number;
  readonly used?: readonly IsolateUsage[];
  readonly body?: Body | undefined;
  /** Where another call's outcome answers. */
  readonly reused?: Ending;
}

/** @param error why the call failed, where its end is one */
type LastingChanges = (error?: CallError) => readonly StateChange[];

/** The events of a call with which its state becomes lasting. */
export type LastingAt = "start" | "end" | "suspension";

const nothing: Progress = {};
const none: readonly Revocation[] = [];
const early: CallEnd = { kind: "early", hasStarted: false, ending: () => undefined };

/**
 * Owns one call from its arrival to its answer. A step that acquires something declares its fate in
 * the same turn: `defer` releases it here, `carry` puts it into a snapshot of the call.
 *
 * The record keeps no findings of a step. They are in the state of the step; `reach` points to the
 * last one, for the end to report.
 */
export class CallRecord implements CallIdentity {
  readonly callId: string;
  readonly sessionId: string;
  readonly caller: string;
  readonly traceparent: string;
  readonly correlationId: string | null;
  readonly seed: string;
  readonly nowMs: number;
  readonly toolName: string;
  readonly options: CallOptions;
  readonly fault: ReadOptions["fault"];
  readonly output: OwnWriter | undefined;
  readonly body: ReadableStreamDefaultReader<unknown> | undefined;
  readonly scope: EventScope;
  readonly hash: Hash;
  readonly arrivedMs: number;
  /** `undefined` for a call from outside. */
  readonly parent: Parent | undefined;
  readonly tree: CallTree;
  readonly before: Before | undefined;
  readonly warnings: string[];
  readonly origin: Origin = new Origin();
  /** Sum of the times spent waiting: for an approval, for a slot, for an equal call. */
  queuedMs: number;
  /** Set with the end event: a broker can charge the call while that event is written. */
  spent: Spent | undefined;
  /** How often approvers changed its arguments. */
  edits = 0;
  /** Set by suspension alone: without it nothing is carried, at no cost. */
  isSuspendable = false;
  #isInvoked: boolean;
  #progress: Progress = nothing;
  #carried: Map<string, () => unknown> | undefined;
  #lasting: { readonly at: LastingAt; readonly changes: LastingChanges }[] | undefined;
  readonly #held = new Obligations<CallEnd>();

  constructor(arrival: Arrival) {
    const { output, body, before } = arrival;
    this.callId = arrival.callId;
    this.sessionId = arrival.sessionId;
    this.caller = arrival.caller;
    this.traceparent = arrival.traceparent;
    this.correlationId = arrival.correlationId;
    this.seed = arrival.seed;
    this.nowMs = arrival.nowMs;
    this.toolName = arrival.toolName;
    this.output = output;
    this.body = body;
    this.scope = arrival.scope;
    this.hash = arrival.hash;
    this.arrivedMs = arrival.arrivedMs;
    this.parent = arrival.parent;
    this.tree = arrival.tree;
    this.before = before;
    this.queuedMs = before?.queuedMs ?? 0;
    this.warnings = before ? [...before.warnings] : [];
    this.#isInvoked = before !== undefined;
    let { options, fault } = arrival;
    try {
      if (options.signal) options = { ...options, signal: this.#signalOf(options.signal) };
    } catch {
      fault ??= texts.wrongOption.signal;
    }
    this.options = options;
    this.fault = fault;
    if (output) this.defer(({ result }) => endOutput(output, result));
    if (body) this.defer(() => endBody(body));
  }

  /** A signal of our own that aborts with the caller's, whose methods may throw: nothing behind this line calls them. */
  #signalOf(theirs: AbortSignal): AbortSignal {
    const own = new AbortController();
    const abort = (): void => own.abort(reasonOf(theirs));
    this.defer(() => absorb(theirs.removeEventListener("abort", abort)));
    absorb(theirs.addEventListener("abort", abort, { once: true }));
    if (theirs.aborted) abort();
    return own.signal;
  }

  /** Takes ownership of one thing. Returns the handle for {@link release}. */
  defer(release: CallRelease): CallRelease {
    return this.#held.defer(release);
  }

  /** Gives one thing back before the call ends: a refunded charge. */
  release(release: CallRelease): void {
    this.#held.release(release, early, (error) => this.#fault(error));
  }

  /**
   * A part of the call with obligations of its own, such as one wait. It ends with the call at the
   * latest.
   */
  part(): CallScope {
    const held = new Obligations<CallEnd>();
    const close = this.defer((end) => void held.settle(end, (error) => this.#fault(error)));
    return { defer: (release) => held.defer(release), close: () => this.release(close) };
  }

  /** Gives everything back, once. Called by the owner alone. Streams of the caller may take longer. */
  settle(end: CallEnd): void {
    void this.#held.settle(end, (error) => this.#fault(error));
  }

  /** State that outlives the kernel from this event on, and only if the call comes to it. Asked in the microtask that records the event. */
  persist(at: LastingAt, changes: LastingChanges): void {
    (this.#lasting ??= []).push({ at, changes });
  }

  /** The changes for the code that records that event. */
  changesAt(at: LastingAt, error?: CallError): readonly StateChange[] {
    if (!this.#lasting) return noChanges;
    return this.#lasting.filter((each) => each.at === at).flatMap(({ changes }) => changes(error));
  }

  /** A part of a snapshot of the call, if one is made. Without suspension it costs a comparison. */
  carry<T>(part: CarriedPart<T>, value: T): void {
    if (this.isSuspendable) this.carryLater(part, () => value);
  }

  /** The same for a part that changes: `read` is called after the call has stopped moving. */
  carryLater<T>({ name }: CarriedPart<T>, read: () => T): void {
    (this.#carried ??= new Map<string, () => unknown>()).set(name, read);
  }

  /** Each part as it is now. */
  carriedNow(): Record<string, unknown> {
    return Object.fromEntries(Array.from(this.#carried ?? [], ([name, read]) => [name, read()]));
  }

  /** A part of the snapshot; `undefined` where the call was not suspended. */
  came<T>({ name }: CarriedPart<T>): T | undefined {
    return this.before?.parts[name] as T | undefined;
  }

  reach<State extends Progress>(state: State): State {
    this.#progress = state;
    return state;
  }

  get progress(): Progress {
    return this.#progress;
  }

  /** The last decision about the call, where it leads to no further state. */
  decided(proof: Proof): void {
    this.#progress = { ...this.#progress, proof };
  }

  /** True once: a call has one `call.invoked`, however often its arguments are edited. */
  invoke(): boolean {
    return !this.#isInvoked && (this.#isInvoked = true);
  }

  /** Whether the tool ran, or may have, here or before the call was suspended. */
  get hasStarted(): boolean {
    return this.#progress.gate !== undefined || this.came(gatePart) !== undefined;
  }

  /** Revocations of this call from before its resume, beside those of the kernel. */
  get revocations(): readonly Revocation[] {
    return this.before?.since.revocations ?? none;
  }

  #fault(error: unknown): void {
    this.warn(`The kernel failed to release a resource: ${faultText(error)}`);
  }

  /** Bounded: a policy that warns of each request must not fill the memory. */
  warn(warning: string): void {
    if (this.warnings.length < limits.messagesPerCall) this.warnings.push(warning);
  }
}

/** Obligations of a part of a call. */
export interface CallScope {
  defer(release: CallRelease): unknown;
  close(): void;
}

/** A getter that throws must not prevent the cancellation of the call. */
function reasonOf(foreign: AbortSignal): unknown {
  try {
    return foreign.reason;
  } catch {
    return "cancelled";
  }
}
