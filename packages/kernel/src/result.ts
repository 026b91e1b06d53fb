import type { JsonValue } from "./json/json.ts";
import type { ContentReference } from "./bytes/content-reference.ts";
import type { Proof } from "./policy/proof/proof.ts";

/** Every code that a call can end with. Each has a page under `docs/errors/`. */
export const errorCodes = [
  "TOOL_NOT_FOUND",
  "INVALID_INPUT",
  "CAPABILITY_DENIED",
  "POLICY_DENIED",
  "APPROVAL_DENIED",
  "APPROVAL_EXPIRED",
  "APPROVAL_UNAVAILABLE",
  "IDEMPOTENCY_UNAVAILABLE",
  "RATE_LIMITED",
  "TOOL_SET_ASIDE",
  "BOUNDS_EXCEEDED",
  "TIMEOUT",
  "CANCELLED",
  "OUT_OF_FUEL",
  "OUT_OF_MEMORY",
  "ISOLATE_LOST",
  "TOOL_ERROR",
  "INVALID_OUTPUT",
  "NOT_NORMALIZABLE",
  "AUDIT_UNAVAILABLE",
  "UNSUPPORTED_HOST",
  "SUSPENDED",
  "SNAPSHOT_REFUSED",
  "SUSPENSION_UNAVAILABLE",
  "INTERNAL",
] as const;

export type ErrorCode = (typeof errorCodes)[number];

/** Every code that registering a tool or loading a policy can end with. Each has a page under `docs/errors/`. */
export const setupErrorCodes = [
  "ALREADY_REGISTERED",
  "INVALID_MANIFEST",
  "PACKAGE_HASH_MISMATCH",
  "UNTRUSTED_TOOL",
  "INVALID_POLICY",
] as const;

export type SetupErrorCode = (typeof setupErrorCodes)[number];

/** The next steps after an error. Empty where none is useful. */
export interface Hints {
  /** The next step of the caller, its model or its tool. */
  readonly hint: string;
  /**
   * The next step of an operator: policy, manifest, program. No tool receives it; keep it from
   * models, with {@link modelError}.
   */
  readonly operatorHint: string;
}

/** Why a call failed, written for the person or the model that made it. */
export interface CallError extends Hints {
  /** One of the codes of calls. It stays the same in every release. */
  readonly code: ErrorCode;
  /** One plain sentence. */
  readonly message: string;
  /** Data of the code, or `null`. The code's page lists it. */
  readonly details: JsonValue;
  /** Whether the same call can succeed later without any change. A second run can do harm: check `effects`. */
  readonly retryable: boolean;
}

/** A {@link CallError} for a tool or a model. */
export interface ModelError extends Omit<CallError, "operatorHint"> {
  readonly operatorHint?: never;
}

/** The cost of a call. */
export interface CallMeta {
  /** From the call's arrival to its result. */
  readonly durationMs: number;
  /** Waiting for an approval, for a free slot, or for an equal call. */
  readonly queuedMs: number;
  /** The result is that of another call: of an equal pure one, or of the first one under the idempotency key. */
  readonly cached: boolean;
  /** Runs of the tool; 0 where it did not run. */
  readonly attempts: number;
  /** Where the host counts it: the same for the same call, everywhere. Of a run that ends without a count, as by its deadline: its bound, where it has one. */
  readonly fuelUsed?: number;
  /** The most memory that the tool's isolate had. */
  readonly peakMemoryBytes?: number;
  readonly networkRequests: number;
  readonly networkBytes: number;
  readonly warnings: readonly string[];
  /** W3C Trace Context of the call's own span. */
  readonly traceparent: string;
}

interface CallEnd {
  /** `name@version`, or the name as asked for where no tool was found. */
  readonly tool: string;
  /** UUIDv7. */
  readonly callId: string;
  /** The kinds that the call and the calls within it used, not the declared ones. */
  readonly effects: readonly string[];
  readonly meta: CallMeta;
}

export interface CallSuccess<Output = JsonValue | Uint8Array> extends CallEnd {
  readonly ok: true;
  readonly data: Output;
  /** Stands for an output that is in the content store, in its normal form, and not in `data`, which is `null` then. Only where the caller takes references. */
  readonly reference?: ContentReference;
  /** The tool's own output, where the caller asked for `raw` and a normalizer changed the output. `hash` and `data` do not cover it. */
  readonly raw?: JsonValue | Uint8Array;
  /** Digest of the normalized output; equal on every host. */
  readonly hash: string;
  readonly proof: Proof;
}

export interface CallFailure extends CallEnd {
  readonly ok: false;
  readonly error: CallError;
  /** Absent where the call ended before anything was decided (unknown tool, invalid input). */
  readonly proof?: Proof;
}

export type CallResult<Output = JsonValue | Uint8Array> = CallSuccess<Output> | CallFailure;

/** The outcome of setting something up: expected failures are data, never thrown. */
export type Setup<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: SetupError };

export interface SetupError {
  readonly code: SetupErrorCode;
  readonly message: string;
  /** JSON Pointer into the refused document. */
  readonly path: string;
  readonly hint: string;
}
