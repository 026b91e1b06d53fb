import { AuditUnavailable } from "../../audit/log.ts";
import { codeOfRefusal } from "../../capability/gate/refusals.ts";
import type { BrokerError } from "../../capability/request.ts";
import type { JsonValue } from "../../json/json.ts";
import { safeErrorField } from "../../support/safe-error-field.ts";
import type { CallError, ErrorCode } from "../../result.ts";
import { defaultHints } from "./hints.ts";

/**
 * Why a call goes no further. A step throws it, and `perform` in `pipeline.ts` catches it. Refusals,
 * broken ports and bugs share that one way out, so no way out can forget to release.
 *
 * Not an `Error`: a denial is no bug, and a stack trace costs more than the step that denies.
 */
export class CallFault {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: JsonValue;
  readonly retryable: boolean;
  readonly hint: string;
  readonly operatorHint: string;

  /** Hints that are not given are those of the code. */
  constructor(
    code: ErrorCode,
    message: string,
    {
      details = null,
      retryable = false,
      hint = defaultHints[code].hint,
      operatorHint = defaultHints[code].operatorHint,
    }: Partial<Omit<CallError, "code" | "message">> = {},
  ) {
    this.code = code;
    this.message = message;
    this.details = details;
    this.retryable = retryable;
    this.hint = hint;
    this.operatorHint = operatorHint;
  }

  /** Data for the caller, in the fixed order of its members. */
  get error(): CallError {
    const { code, message, details, retryable, hint, operatorHint } = this;
    return { code, message, details, retryable, hint, operatorHint };
  }
}

/**
 * Thrown where an approver edited the arguments. The pipeline is entered again, so new arguments
 * meet every step.
 */
export class Reentry {
  readonly input: unknown;
  /** Of the answer that the new decision follows from. */
  readonly parentProofId: string;

  constructor(input: unknown, parentProofId: string) {
    this.input = input;
    this.parentProofId = parentProofId;
  }
}

/**
 * Thrown where a call leaves for another process. `put` resolves when its snapshot is on record, or
 * lost.
 */
export class Suspended {
  readonly put: Promise<CallFault>;

  constructor(put: Promise<CallFault>) {
    this.put = put;
  }
}

/** The fault for a caller, from any thrown value. */
export function asFault(thrown: unknown, hasStarted: boolean): CallFault {
  if (thrown instanceof CallFault) return thrown;
  if (thrown instanceof AuditUnavailable) {
    const message = hasStarted
      ? "The kernel could not write the audit log while the tool ran. The log lacks the tool's actions."
      : "The kernel cannot write the audit log, so no tool runs.";
    return new CallFault("AUDIT_UNAVAILABLE", message, { details: { ran: hasStarted }, retryable: !hasStarted });
  }
  return new CallFault("INTERNAL", "The kernel failed; the fault is not the caller's.", {
    details: { error: faultText(thrown) },
  });
}

/** The fault of a call that a refused request ends. */
export function refusalFault({ code, message, hint, operatorHint = "", reason }: BrokerError): CallFault {
  return new CallFault(codeOfRefusal[code], message, {
    ...(hint !== "" && { hint }),
    operatorHint,
    ...(reason && { details: { reason } }),
    retryable: code === "UNAVAILABLE",
  });
}

/** Name and message of something that was thrown, which may be anything. */
export function faultText(thrown: unknown): string {
  return [safeErrorField(thrown, "name"), safeErrorField(thrown, "message")].join(": ").slice(0, 500).toWellFormed();
}
