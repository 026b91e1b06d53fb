import type { Need } from "./capability.ts";
import type { Family } from "./family.ts";
import type { BrokerError, BrokerReply, CapabilityRequest } from "./request.ts";
import type { CallSecrets } from "./secret.ts";

/**
 * The kernel's side of one request. A broker checks every hop and every byte here before it
 * happens.
 */
export interface BrokerSession {
  /** A broker with a bound for all callers lets them take turns, and the calls of each. */
  readonly caller: string;
  /** The id of the call from outside. Nested calls have that of the call that led to them. */
  readonly outermostId: string;
  /** Aborts at every end of the call. The broker then stops its work and keeps nothing. */
  readonly signal: AbortSignal;
  /** Whether the call's grant covers one more need, such as a redirect's target. `undefined` means yes. */
  refusal(need: Need): BrokerError | undefined;
  /**
   * Charges bytes before the tool gets them, against a capability that covers the need. `undefined`
   * means that the budget holds.
   *
   * @param need one object for one need. Default: the last allowed need, or the request's first
   * @throws TypeError for an amount that is no number from 0
   */
  spend(usage: Usage, need?: Need): BrokerError | undefined;
  /**
   * The limit of the grant for one request like this: bytes of the file (`fs.*`) or value (`kv.*`),
   * rows of the answer (`db.read`). `Infinity` without a limit.
   */
  limit(need: Need): number;
  readonly secrets: CallSecrets;
}

/** The use of one request. The kernel counts the bytes of files by itself. */
export interface Usage {
  /** Of the call's bounds as well as of the capability's budget. */
  readonly networkRequests?: number;
  readonly networkBytes?: number;
  /** Of the capability's budget alone. */
  readonly requests?: number;
  readonly bytes?: number;
}

/** The needs of a request, each the smallest thing that a grant can cover; or its fault. */
export type BrokerNeeds =
  | { readonly ok: true; readonly needs: readonly Need[] }
  | { readonly ok: false; readonly error: BrokerError };

/** Serves some kinds of capability with a real component. `test/contract/broker.ts` says what every broker must do. */
export interface Broker {
  /** The kinds that it serves, which the kernel knows by it. */
  readonly families: readonly Family[];
  /**
   * The needs of a request, without any effect. The kernel checks each need before it calls
   * `serve`. A promise is for a broker whose code loads with its first request: later requests wait
   * until it settles.
   */
  needs(request: CapabilityRequest): BrokerNeeds | Promise<BrokerNeeds>;
  /** Never rejects for what the tool or the world did wrong. */
  serve(request: CapabilityRequest, session: BrokerSession): Promise<BrokerReply>;
}
