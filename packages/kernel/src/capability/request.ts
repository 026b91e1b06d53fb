import type { JsonObject, JsonValue } from "../json/json.ts";
import type { DenialReason } from "./denial.ts";

/**
 * One request of a tool, as it left the isolate. The host has checked its shape, not yet its meaning.
 * The operations of each kind, with their arguments:
 *
 * - `net.read`, `net.write`: `fetch` with `{ url, method, headers: [name, value][] }`
 * - `fs.*`: `read`, `write`, `list`, `stat`, `remove` with `{ path }`
 * - `db.read`: `query`; `db.write`: `run`; both with `{ database, sql, params }`
 * - `kv.read`: `get` with `{ key }`, `list` with `{ prefix, limit, after? }`
 * - `kv.write`: `put`, `delete` with `{ key }`
 * - `process.spawn`: `run` with `{ command, args }` and the input as body
 * - `tool.call`: `call` with `{ name, input }`
 *
 * `secret.use`, `clock` and `random` have no requests.
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

/** The reply to a tool. Data, never a live object of the host. */
export type CapabilityReply = Served | { readonly ok: false; readonly error: CapabilityError };

/** The reply of a broker. */
export type BrokerReply = Served | { readonly ok: false; readonly error: BrokerError };

type RefusalCode =
  /** The request goes beyond the grant, or no grant can allow it. */
  | "CAPABILITY_DENIED"
  /** A budget or a size has no room left. */
  | "BOUNDS_EXCEEDED"
  /** The request is malformed. */
  | "INVALID_REQUEST"
  /** The grant allows the request, and there is no such file, database, command or secret. The same request fails again. */
  | "NOT_FOUND"
  /** The grant allows the request, and a service failed: host not reachable, storage full or out of order, CORS. A later request can succeed. */
  | "UNAVAILABLE"
  /** The call ended before the broker served the request. */
  | "CANCELLED";

interface Refused {
  readonly code: RefusalCode;
  readonly message: string;
  /** For the tool, and for the model that reads what it says. */
  readonly hint: string;
}

/**
 * The error of an unserved request, for the tool: without the `operatorHint` of a
 * {@link BrokerError}.
 */
export interface CapabilityError extends Refused {
  readonly operatorHint?: never;
  readonly reason?: never;
}

/** Why the kernel or a broker does not serve a request. */
export interface BrokerError extends Refused {
  /**
   * The operator's next step. The kernel keeps it, for the result of a call that ends with this
   * error.
   */
  readonly operatorHint?: string;
  /** Of what the kernel denies. It stays with the kernel as well. */
  readonly reason?: DenialReason;
}
