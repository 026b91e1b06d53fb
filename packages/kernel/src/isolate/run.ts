import * as limits from "../limits.ts";
import type { Deadline } from "../bounds/deadline.ts";
import type { BrokerError, CapabilityReply, CapabilityRequest } from "../capability/request.ts";
import type { Gate } from "../capability/gate/gate.ts";
import type { Body } from "./body.ts";
import type { OutputStream } from "../hash/output-stream.ts";
import { type Listener, tell } from "../support/foreign.ts";
import type { RegisteredTool } from "../tool/package.ts";
import type { LogEntry, Progress } from "../tool/report.ts";
import type { Clock } from "./clock.ts";
import type { Lease, Owner, Waiter } from "./pool/lease.ts";
import type { IsolatePool } from "./pool/pool.ts";
import { readRequest } from "./reading.ts";
import type { BoundedCall } from "./bounded-call.ts";
import { type CallPort, IsolateFailure, type IsolateOutcome, type IsolateUsage } from "./port.ts";

/** How a run ended: as the isolate said, or as the kernel decided without it. */
export type RunEnd =
  | IsolateOutcome
  /** Milliseconds that its host kept it waiting, and those for which its tool ran: 0 where no code of it began. Default: it ran. */
  | { readonly kind: "timed-out"; readonly waitedMs?: number; readonly ranMs?: number }
  | { readonly kind: "cancelled" }
  /** The kernel would not let it begin now. `code`: of the error that its tool threw. */
  | { readonly kind: "forbidden"; readonly why: string; readonly code?: string | undefined }
  /** Of an access that trusted code made by itself. */
  | { readonly kind: "use-refused"; readonly refusal: BrokerError }
  /** {@link Body.fault} says why. */
  | { readonly kind: "bad-body" }
  | { readonly kind: "suspended" }
  | { readonly kind: "not-opened"; readonly failure: IsolateFailure };

export interface RunOptions {
  readonly pool: IsolatePool;
  readonly owner: Owner;
  readonly clock: Clock;
  readonly gate: Pick<Gate, "request" | "close">;
  readonly deadline: Deadline;
  readonly cancel: AbortSignal | undefined;
  /** Ends the run as a cancellation does, for the operator. */
  readonly brake?: { watch(onPull: (why: string) => void): void };
  /** Aborts when no caller can take a result: then there is no grace. */
  readonly abandoned: AbortSignal | undefined;
  readonly onLog: Listener<[LogEntry]> | undefined;
  readonly onProgress: Listener<[Progress]> | undefined;
  /** The refusal of a use that trusted code charges. Default: none. */
  readonly charge?: (bytes: number, isRequest: boolean) => BrokerError | undefined;
  readonly onUsed: (usage: IsolateUsage) => void;
  /** Told once it runs in its isolate. `putAside` ends the run as suspended; `false` where it has ended, or is ending, another way. */
  readonly onLease?: ((lease: Lease, putAside: () => boolean) => void) | undefined;
  /** Takes the pieces of a call whose output is a stream. */
  readonly flow: OutputStream | undefined;
  /** Gives the pieces of what comes with the input. */
  readonly body: Body | undefined;
}

/**
 * Runs one call under its deadline. At the deadline, or when the grace after a cancellation is over, the caller is answered at once and the isolate
 * terminated behind it. The gate is closed before this resolves: nothing that the isolate still sends has any effect.
 */
export function runInIsolate(tool: RegisteredTool, call: BoundedCall, options: RunOptions): Promise<RunEnd> {
  if (options.cancel?.aborted) {
    options.gate.close();
    return Promise.resolve({ kind: "cancelled" });
  }
  return new Promise((resolve, reject) => new IsolateRun(options, resolve, reject).start(tool, call));
}

/**
 * One run, and the isolate's end of it. A class, because an accessor in an object literal gives
 * every object a hidden class of its own. That class keeps the whole call in memory until the next
 * full collection.
 */
class IsolateRun implements CallPort {
  readonly #options: RunOptions;
  readonly #resolve: (end: RunEnd) => void;
  readonly #reject: (error: unknown) => void;
  /** Only where there is something that can abort. */
  readonly #onCancel: (() => void) | undefined;
  readonly #onAbandoned: (() => void) | undefined;
  readonly #stopDeadline: () => void;
  #stopGrace: (() => void) | undefined;
  #lease: Lease | undefined;
  readonly #startedMs: number;
  #leasedMs = 0;
  readonly #waiter: Waiter = {};
  /** Made when the tool looks at it: most never do. */
  #told: AbortController | undefined;
  #messagesLeft: number = limits.messagesPerCall;
  /** How it ends, where the caller ended it. */
  #cancelled: RunEnd | undefined;
  #ended = false;
  /** The bound of fuel of the running call, until its isolate counts: a tool that stops its own count gains nothing. */
  #uncounted: number | undefined;

  constructor(options: RunOptions, resolve: (end: RunEnd) => void, reject: (error: unknown) => void) {
    const { cancel, deadline, abandoned, brake, flow } = options;
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#startedMs = options.clock.monotonicMs();
    this.#stopDeadline = deadline.watch(() => {
      const ranMs = this.#ranMs();
      const waitedMs = Math.ceil(options.clock.monotonicMs() - this.#startedMs - ranMs);
      this.#stop({ kind: "timed-out", waitedMs, ranMs }, "deadline");
    });
    if (abandoned) {
      this.#onAbandoned = () => this.#stop({ kind: "cancelled" }, "the calling call has ended");
      abandoned.addEventListener("abort", this.#onAbandoned, { once: true });
    }
    if (cancel || flow) {
      this.#onCancel = () => this.#cancel({ kind: "cancelled" });
      cancel?.addEventListener("abort", this.#onCancel, { once: true });
      // A caller that takes no more of the output wants no more of the call.
      flow?.onRefused(this.#onCancel);
    }
    brake?.watch((why) => this.#cancel({ kind: "forbidden", why }));
  }

  start(tool: RegisteredTool, call: BoundedCall): void {
    const { pool, owner } = this.#options;
    const leased = pool.lease(tool, owner, this.#waiter);
    if (leased instanceof Promise)
      leased.then(
        (lease) => this.#callIn(lease, call),
        (error: unknown) => this.#notOpened(error),
      );
    else this.#callIn(leased, call);
  }

  #ranMs(): number {
    const { clock, owner } = this.#options;
    if (this.#lease === undefined) return 0;
    return this.#lease.isolate.ranMs?.(owner.callId) ?? Math.max(1, clock.monotonicMs() - this.#leasedMs);
  }

  get signal(): AbortSignal {
    const { cancel } = this.#options;
    if (this.#told === undefined) {
      this.#told = new AbortController();
      if (this.#cancelled) this.#told.abort(cancel?.reason);
    }
    return this.#told.signal;
  }

  request(foreign: CapabilityRequest): Promise<CapabilityReply> {
    return this.#options.gate.request(readRequest(foreign));
  }

  log(entry: LogEntry): void {
    this.#pass(this.#options.onLog, entry);
  }

  progress(progress: Progress): void {
    this.#pass(this.#options.onProgress, progress);
  }

  async write(piece: Uint8Array): Promise<boolean> {
    const { flow } = this.#options;
    if (this.#ended || !flow) return false;
    if (!flow.admits(piece))
      return this.#stop({ kind: "too-large", what: "output", limit: flow.limitBytes }, "it sent too much");
    try {
      await flow.write(piece);
    } catch {
      this.#onCancel?.();
    }
    return !this.#ended && !this.#cancelled;
  }

  async read(): Promise<Uint8Array | undefined> {
    const { body } = this.#options;
    if (this.#ended || this.#cancelled || !body) return undefined;
    const piece = await body.read();
    if (!piece) this.#cancel({ kind: "bad-body" });
    return this.#ended || this.#cancelled ? undefined : piece;
  }

  charge(bytes: number, isRequest: boolean): boolean {
    if (this.#ended || this.#cancelled) return false;
    const refusal = this.#options.charge?.(bytes, isRequest);
    if (refusal) this.#cancel({ kind: "use-refused", refusal });
    return refusal === undefined;
  }

  used(usage: IsolateUsage): void {
    if (this.#ended) return;
    if (usage.fuelUsed !== undefined) this.#uncounted = undefined;
    this.#options.onUsed(usage);
  }

  #callIn(lease: Lease, call: BoundedCall): void {
    // The deadline may have passed, or the caller cancelled, during the opening of the isolate: then it is free for the next call, and this one never starts.
    if (this.#ended || this.#cancelled) {
      lease.release();
      if (this.#cancelled) this.#end(this.#cancelled);
      return;
    }
    this.#lease = lease;
    this.#leasedMs = this.#options.clock.monotonicMs();
    this.#uncounted = call.fuel;
    this.#options.onLease?.(lease, () => {
      if (this.#ended || this.#cancelled) return false;
      this.#stop({ kind: "suspended" }, "the call was suspended");
      return true;
    });
    lease.isolate
      .call(call, this)
      .then((outcome) => {
        lease.release(isExcused(outcome));
        this.#end(outcome);
      })
      .catch((error: unknown) => {
        lease.release();
        this.#fail(error);
      });
  }

  /** Aborts the tool's signal, and gives it the grace period to end. */
  #cancel(end: RunEnd): void {
    if (this.#ended || this.#cancelled) return;
    const { cancel, clock } = this.#options;
    this.#cancelled = end;
    this.#told?.abort(cancel?.reason);
    this.#stopGrace = clock.after(limits.graceMs, () => this.#stop(end, "cancelled"));
  }

  #notOpened(error: unknown): void {
    if (error instanceof IsolateFailure) this.#end({ kind: "not-opened", failure: error });
    else this.#fail(error);
  }

  #leave(how?: RunEnd): void {
    this.#ended = true;
    const fuelUsed = this.#uncounted;
    if (fuelUsed !== undefined && this.#ranMs() > 0)
      this.#options.onUsed(how?.kind === "suspended" ? {} : { fuelUsed });
    this.#options.gate.close();
    this.#stopDeadline();
    this.#stopGrace?.();
    this.#waiter.leave?.();
    if (this.#onCancel) this.#options.cancel?.removeEventListener("abort", this.#onCancel);
    if (this.#onAbandoned) this.#options.abandoned?.removeEventListener("abort", this.#onAbandoned);
  }

  #end(how: RunEnd): void {
    if (this.#ended) return;
    this.#leave(how);
    const cancelled = how.kind === "timed-out" ? undefined : this.#cancelled;
    const isRefusal = cancelled?.kind === "forbidden" && how.kind === "threw";
    this.#resolve(isRefusal ? { ...cancelled, code: how.code } : (cancelled ?? how));
  }

  #fail(error: unknown): void {
    if (this.#ended) return;
    this.#leave();
    this.#reject(error);
  }

  #stop(how: RunEnd, reason: string): false {
    this.#end(how);
    this.#lease?.stop(reason);
    return false;
  }

  /** Drops messages that a host passes on after the end of the call. A trusted tool can hand on the words of a server, so no host can vouch for their length. */
  #pass<T extends { readonly message?: string }>(listener: Listener<[T]> | undefined, said: T): void {
    if (this.#messagesLeft === 0 || this.#ended) return;
    this.#messagesLeft--;
    if (!listener) return;
    const { message = "" } = said;
    const isLong = message.length > limits.messageLength;
    tell(listener, [isLong ? { ...said, message: message.slice(0, limits.messageLength).toWellFormed() } : said]);
  }
}

/** An isolate that is dead after this is not to blame: it reached a bound of its call, or lost its machine. */
function isExcused(outcome: IsolateOutcome): boolean {
  return (
    outcome.kind === "out-of-fuel" ||
    (outcome.kind === "too-large" && outcome.what === "stack") ||
    (outcome.kind === "lost" && outcome.blame === "host")
  );
}
