import type { CallFailure, ErrorCode } from "@keyhole/kernel";
import { isStorageFault } from "./storage-fault.ts";

interface Kind {
  readonly status: number;
  readonly title: string;
  /** Of a refusal of the transport: the same request can pass later. Default `false`. */
  readonly retryable?: boolean;
}

/** Codes of the transport's refusals, before any call exists. */
export type HttpCode =
  | "INVALID_REQUEST"
  | "UNAUTHENTICATED"
  | "FORBIDDEN"
  | "NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "BODY_TIMEOUT"
  | "BODY_TOO_LARGE"
  | "UNSUPPORTED_MEDIA_TYPE"
  | "BODIES_BUSY"
  | "KERNEL_UNAVAILABLE"
  | "MISCONFIGURED";

const httpProblems: Readonly<Record<HttpCode, Kind>> = {
  INVALID_REQUEST: { status: 400, title: "The request is malformed" },
  UNAUTHENTICATED: { status: 401, title: "A bearer token is needed" },
  FORBIDDEN: { status: 403, title: "The token does not allow this" },
  NOT_FOUND: { status: 404, title: "There is nothing here" },
  METHOD_NOT_ALLOWED: { status: 405, title: "The method does not apply here" },
  BODY_TIMEOUT: { status: 408, title: "The body did not come in time" },
  BODY_TOO_LARGE: { status: 413, title: "The body is too large" },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: "The body is of another type" },
  BODIES_BUSY: { status: 429, title: "Too many large bodies arrive at once", retryable: true },
  KERNEL_UNAVAILABLE: { status: 503, title: "The kernel cannot answer now", retryable: true },
  MISCONFIGURED: { status: 500, title: "The service is not set up correctly" },
};

/**
 * How each end of a call looks in HTTP. 4xx: another request can do better; 5xx: the tool or the service failed. `CANCELLED` has nginx's
 * 499, which only a log sees, because its client has gone.
 */
export const callProblems: Readonly<Record<ErrorCode, Kind>> = {
  TOOL_NOT_FOUND: { status: 404, title: "There is no such tool" },
  INVALID_INPUT: { status: 422, title: "The input or an option of the call is not accepted" },
  CAPABILITY_DENIED: { status: 403, title: "A capability is not granted" },
  POLICY_DENIED: { status: 403, title: "The policy denies the call" },
  APPROVAL_DENIED: { status: 403, title: "The approver denied the call" },
  APPROVAL_EXPIRED: { status: 403, title: "Nobody approved the call in time" },
  APPROVAL_UNAVAILABLE: { status: 501, title: "The service has no approvals" },
  IDEMPOTENCY_UNAVAILABLE: { status: 501, title: "The service remembers no idempotency keys" },
  RATE_LIMITED: { status: 429, title: "Too many calls" },
  TOOL_SET_ASIDE: { status: 503, title: "The tool is set aside for a while" },
  BOUNDS_EXCEEDED: { status: 422, title: "The call reached one of its bounds" },
  TIMEOUT: { status: 504, title: "The tool did not finish in time" },
  CANCELLED: { status: 499, title: "The caller cancelled" },
  OUT_OF_FUEL: { status: 422, title: "The call used up its fuel" },
  OUT_OF_MEMORY: { status: 422, title: "The call used up its memory" },
  ISOLATE_LOST: { status: 503, title: "The tool's isolate was lost" },
  TOOL_ERROR: { status: 502, title: "The tool failed" },
  INVALID_OUTPUT: { status: 502, title: "The tool broke its output contract" },
  NOT_NORMALIZABLE: { status: 502, title: "The tool's output has no normal form" },
  AUDIT_UNAVAILABLE: { status: 503, title: "The audit log cannot be written" },
  UNSUPPORTED_HOST: { status: 501, title: "This host cannot run the tool" },
  SUSPENDED: { status: 503, title: "The call was suspended" },
  SNAPSHOT_REFUSED: { status: 422, title: "The snapshot cannot be resumed here" },
  SUSPENSION_UNAVAILABLE: { status: 501, title: "The service resumes no calls" },
  INTERNAL: { status: 500, title: "The service has a bug" },
};

/** RFC 9457. The code is the stable part; `type` is the same as a URI. */
function problem(kind: Kind, code: string, members: object, headers?: HeadersInit): Response {
  const body = { type: `urn:keyhole:error:${code}`, title: kind.title, status: kind.status, code, ...members };
  const response = Response.json(body, { status: kind.status, ...(headers && { headers }) });
  response.headers.set("content-type", "application/problem+json");
  return response;
}

/** A refusal of the transport, thrown where a check fails and turned into its response in one place. */
export class HttpRefusal extends Error {
  readonly code: HttpCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly hint: string;

  constructor(code: HttpCode, detail: string, headers: Readonly<Record<string, string>> = {}, hint = "") {
    super(detail);
    this.name = "HttpRefusal";
    this.code = code;
    this.headers = headers;
    this.hint = hint;
  }
}

/** A setting that is not valid. `message` says what is wrong with it, for senders with a token; `publicDetail` only which setting it is. */
export class Misconfigured extends HttpRefusal {
  readonly publicDetail: string;

  constructor(detail: string, publicDetail: string = detail) {
    super("MISCONFIGURED", detail);
    this.publicDetail = publicDetail;
  }
}

/** @param detail one plain sentence; never anything secret */
export function httpProblem(code: HttpCode, detail: string, headers?: HeadersInit, hint = ""): Response {
  const kind = httpProblems[code];
  return problem(kind, code, { detail, hint, retryable: kind.retryable === true }, headers);
}

/** Answers an exception: a refusal as itself, a log that cannot be written as such, anything else as a bug. Details stay in the service's own log. */
export function problemOf(thrown: unknown): Response {
  if (thrown instanceof HttpRefusal) return httpProblem(thrown.code, thrown.message, thrown.headers, thrown.hint);
  if (isStorageFault(thrown)) return storageProblem();
  const detail = "The request ran into an error that the service does not expect.";
  return problem(callProblems.INTERNAL, "INTERNAL", { detail, hint: "", retryable: false });
}

/** A call may have begun: then the next kernel on the log ends it as `tool.lost`. */
function storageProblem(): Response {
  const detail = "The audit log cannot be written. If the request was a call, its tool may have run.";
  const hint = "Ask the operator to free space for the log or to repair its storage.";
  return problem(callProblems.AUDIT_UNAVAILABLE, "AUDIT_UNAVAILABLE", { detail, hint, retryable: false });
}

/** A call that failed: its code, what to do about it, and the whole result. */
export function callProblem(result: CallFailure): Response {
  const { code, message, hint, retryable } = result.error;
  const members = { detail: message, hint, retryable, callId: result.callId, result };
  return problem(callProblems[code], code, members, retryHeaders(result));
}

/** `Retry-After` in whole seconds (RFC 9110, 10.2.3) where the kernel knows it. */
function retryHeaders({ error }: CallFailure): HeadersInit {
  const { details } = error;
  if (typeof details !== "object" || details === null || !("retryAfterMs" in details)) return {};
  const { retryAfterMs } = details;
  if (typeof retryAfterMs !== "number") return {};
  return { "retry-after": String(Math.max(1, Math.ceil(retryAfterMs / 1000))) };
}
