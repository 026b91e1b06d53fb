import { AuditUnavailable } from "../../audit/unavailable.ts";
import { codeOfRefusal } from "../../capability/gate/refusals.ts";
import type { BrokerError } from "../../capability/request.ts";
import { safeErrorField } from "../../support/safe-error-field.ts";
import type { CallError, ErrorCode } from "../../result.ts";
import type { FaultText } from "./fault-text.ts";
import type * as texts from "./texts.ts";

/** Message and hints of every fault of the core. Loaded for the first failure: most calls have none. */
export type Texts = typeof texts;
export type TextOf = (texts: Texts) => FaultText;

/**
 * Why a call goes no further. A step throws it, and `perform` in `pipeline.ts` catches it. Refusals,
 * broken ports and bugs share that one way out, so no way out can forget to release.
 *
 * The code stands from the beginning. The texts can load later, so a missing text changes no
 * outcome.
 *
 * Not an `Error`: a denial is no bug, and a stack trace costs more than the step that denies.
 */
export class CallFault {
  readonly code: ErrorCode;
  #text: (texts: Texts | undefined) => FaultText;
  #error: CallError | undefined;

  /**
   * @param text the message, or a function that makes the text from values of the moment of the fault
   * @param more the fields that hold without the texts too: retries and the quarantine decide by `retryable` and `details`
   */
  constructor(code: ErrorCode, text: string | TextOf, more: Omit<FaultText, "message"> = {}) {
    this.code = code;
    const textOf =
      typeof text === "string" ? () => ({ message: text }) : (texts?: Texts) => (texts ? text(texts) : unloaded);
    this.#text = (texts) => ({ ...textOf(texts), ...more });
  }

  /** Data for the caller, in the fixed order of its members: the same at each request. Never rejects. */
  async error(): Promise<CallError> {
    if (this.#error) return this.#error;
    // They do not load where the bundle lacks a file, or the network fails.
    const loaded = await loadTexts().catch(() => undefined);
    const error = (this.#error ??= errorOf(this.code, this.#text(loaded), loaded));
    // The function holds on to values of the call, and the fault can outlive the call.
    this.#text = () => error;
    return error;
  }

  /** The size of the error in JSON, for a memory with a bound; 0 before {@link error}. */
  get length(): number {
    return this.#error ? JSON.stringify(this.#error).length : 0;
  }

  /** The same for a call that asks again: nothing but its hint changes, and it cannot succeed later. */
  repeated(hint: string): CallFault {
    const text = this.#text;
    return new CallFault(this.code, text, { hint, retryable: false });
  }
}

let loadedTexts: Texts | undefined;

/** @throws the platform's error where the module does not load */
export async function loadTexts(): Promise<Texts> {
  return (loadedTexts ??= await import("./texts.ts"));
}

function errorOf(code: ErrorCode, text: FaultText, loaded: Texts | undefined): CallError {
  const defaults = loaded?.defaultHints[code];
  const { message, details = null, retryable = false } = text;
  const { hint = defaults?.hint ?? "", operatorHint = defaults?.operatorHint ?? "" } = text;
  return { code, message, details, retryable, hint, operatorHint };
}

const unloaded: FaultText = {
  message: "The call failed, and the text of its error did not load.",
  hint: "Do not repeat the call. Tell the user.",
  operatorHint: "Serve every file of the bundle: one has the texts of errors.",
};

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
  if (thrown instanceof AuditUnavailable)
    return new CallFault("AUDIT_UNAVAILABLE", (texts) => texts.logFailed(hasStarted));
  const error = faultText(thrown);
  return new CallFault("INTERNAL", (texts) => texts.kernelFailed(error));
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
