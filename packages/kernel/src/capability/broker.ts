import type { Need } from "./capability.ts";
import type { Family } from "./family.ts";
import type { BrokerError, BrokerReply, CapabilityRequest } from "./request.ts";
import type { CallSecrets } from "./secret.ts";

/** What a broker asks of the kernel while it serves a request: every hop and every byte is checked before it happens. */
export interface BrokerSession {
  /** Aborts when the call ends, for whatever reason: a broker stops its work and keeps nothing. */
  readonly signal: AbortSignal;
  /** Whether the call's grant covers one more need, such as a redirect's target. `undefined` means yes. */
  refusal(need: Need): BrokerError | undefined;
  /**
   * Counts before bytes are handed over, against a capability that covers what they are for. `undefined` means that the budget holds.
   *
   * @param need One object for one need. Default: the one that was allowed last, or the request's first.
   * @throws TypeError for an amount that is no number from 0
   */
  spend(usage: Usage, need?: Need): BrokerError | undefined;
  /** What the grant sets for one request like this: bytes of the file (`fs.*`) or value (`kv.*`), rows of the answer (`db.read`). `Infinity` without a limit. */
  limit(need: Need): number;
  readonly secrets: CallSecrets;
}

/** What a request uses up. The kernel counts the bytes of files by itself. */
export interface Usage {
  /** Of the call's bounds as well as of the capability's budget. */
  readonly networkRequests?: number;
  readonly networkBytes?: number;
  /** Of the capability's budget alone. */
  readonly requests?: number;
  readonly bytes?: number;
}

/** What a request needs, as the smallest things that a grant covers or not; or why it cannot be read. */
export type BrokerNeeds =
  | { readonly ok: true; readonly needs: readonly Need[] }
  | { readonly ok: false; readonly error: BrokerError };

/** Serves some kinds of capability with a real component. `test/contract/broker.ts` says what every broker must do. */
export interface Broker {
  /** The kinds that it serves, which the kernel knows by it. */
  readonly families: readonly Family[];
  /**
   * What the request would need, without doing anything. The kernel checks each need before `serve` is called. A promise is for a broker whose code loads with its first
   * request: until it settles, the requests behind this one wait.
   */
  needs(request: CapabilityRequest): BrokerNeeds | Promise<BrokerNeeds>;
  /** Never rejects for what the tool or the world did wrong. */
  serve(request: CapabilityRequest, session: BrokerSession): Promise<BrokerReply>;
}
