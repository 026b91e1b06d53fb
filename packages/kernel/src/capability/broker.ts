import type { JsonObject, JsonValue } from "../json/json.ts";
import type { Need } from "./capability.ts";
import type { Family } from "./family.ts";
import type { DenialReason } from "./denial.ts";
import type { CallSecrets } from "./secret.ts";

/**
 * One request of a tool, as it left the isolate: shape-checked by the host, meaning not yet. `net.read` and `net.write` take
 * `operation: "fetch"` with `{ url, method, headers: [name, value][] }`; `fs.*` take `read`, `write`, `list`, `stat`, `remove` with `{ path }`; `db.read`
 * takes `query` and `db.write` `run` with `{ database, sql, params }`; `kv.read` takes `get` with `{ key }` and `list` with `{ prefix, limit, after? }`,
 * `kv.write` takes `put` and `delete` with `{ key }`; `process.spawn` takes `run` with `{ command, args }` and the input as body; `tool.call` takes `call`
 * with `{ name, input }`. `secret.use`, `clock` and `random` have no requests.
 */
export interface CapabilityRequest {
  readonly kind: string;
  readonly operation: string;
  readonly arguments: JsonObject;
  readonly body?: Uint8Array;
}

/** A request as the kernel has it: its own data, but for the memory of the body. */
export interface OwnRequest extends CapabilityRequest {
  /** Why there is none: the rest of it says nothing then. */
  readonly fault?: string;
}

interface Served {
  readonly ok: true;
  readonly value: JsonValue;
  readonly body?: Uint8Array;
}

/** What a tool is given. Data, never a live object of the host. */
export type CapabilityReply = Served | { readonly ok: false; readonly error: CapabilityError };

/** What a broker answers. */
export type BrokerReply = Served | { readonly ok: false; readonly error: BrokerError };

interface Refused {
  /**
   * - `NOT_FOUND`: allowed, and there is nothing of this kind under this name. The same request fails again.
   * - `UNAVAILABLE`: allowed, but the world refused (host not reachable, storage out of order, CORS). It can pass.
   */
  readonly code:
    | "CAPABILITY_DENIED"
    | "BOUNDS_EXCEEDED"
    | "INVALID_REQUEST"
    | "NOT_FOUND"
    | "UNAVAILABLE"
    | "CANCELLED";
  readonly message: string;
  /** For the tool, and for the model that reads what it says. */
  readonly hint: string;
}

/** What a tool is told of a request that was not served: never the `operatorHint` of a {@link BrokerError}. */
export interface CapabilityError extends Refused {
  readonly operatorHint?: never;
  readonly reason?: never;
}

/** Why the kernel or a broker does not serve a request. */
export interface BrokerError extends Refused {
  /** What an operator can change. It stays with the kernel, which puts it into the result of a call that ends so. */
  readonly operatorHint?: string;
  /** Of what the kernel denies. It stays with the kernel as well. */
  readonly reason?: DenialReason;
}

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
