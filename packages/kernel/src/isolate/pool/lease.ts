import type { OwnIsolate } from "../bounded-call.ts";

/** The owner of a call. Two callers can choose the same session name. */
export interface Owner {
  readonly caller: string;
  readonly sessionId: string;
  readonly callId: string;
  /** The calls that it is nested in, which wait for it. */
  readonly within: readonly string[];
  /** How many of them are of the same tool: each of them holds an isolate of its own. */
  readonly around: number;
  /** Opens an isolate that serves this call alone, where it is not the host's way. */
  readonly thaw?: ((isWanted: () => boolean) => Promise<OwnIsolate>) | undefined;
}

/** A call that may have to wait for its isolate: the pool puts in how it stops waiting. */
export interface Waiter {
  leave?: () => void;
}

/** One isolate in use by one call. */
export interface Lease {
  readonly isolate: OwnIsolate;
  /** Gives it back. Idempotent. `excused`: if it is dead now, that is no fault of the isolate's. */
  readonly release: (excused?: boolean) => void;
  /** Ends the isolate, also during a call. */
  readonly stop: (reason: string) => void;
  /** Whether other calls use it as well. */
  readonly isShared: () => boolean;
}
