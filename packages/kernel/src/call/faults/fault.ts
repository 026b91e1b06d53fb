import { AuditUnavailable } from "../../audit/unavailable.ts";
import { codeOfRefusal } from "../../capability/gate/refusals.ts";
import type { BrokerError } from "../../capability/request.ts";
import { safeErrorField } from "../../support/safe-error-field.ts";
import type { CallError, ErrorCode } from "../../result.ts";
import type { FaultText } from "./fault-text.ts";
import * as texts from "./texts.ts";

/**
 * Why a call goes no further. A step throws it, and `perform` in `pipeline.ts` catches it. Refusals,
 * broken ports and bugs share that one way out, so no way out can forget to release.
 *
 * Not an `Error`: a denial is no bug, and a stack trace costs more than the step that denies.
 */
export class CallFault {
  readonly code: ErrorCode;
  /** Data for the caller, in the fixed order of its members. */
  readonly error: CallError;

  constructor(code: ErrorCode, text: string | FaultText, more: Partial<FaultText> = {}) {
    const whole = { ...texts.defaultHints[code], ...(typeof text === "string" ? { message: text } : text), ...more };
    const { message, details = null, retryable = false, hint, operatorHint } = whole;
    this.code = code;
    this.error = { code, message, details, retryable, hint, operatorHint };
  }

  /** The same for a call that asks again: nothing but its hint changes, and it cannot succeed later. */
  repeated(hint: string): CallFault {
    return new CallFault(this.code, this.error, { hint, retryable: false });
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
  if (thrown instanceof AuditUnavailable) return new CallFault("AUDIT_UNAVAILABLE", texts.logFailed(hasStarted));
  const error = faultText(thrown);
  return new CallFault("INTERNAL", texts.kernelFailed(error));
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
