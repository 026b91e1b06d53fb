import { safeErrorField } from "../../support/safe-error-field.ts";
import type { ErrorCode } from "../../result.ts";
import type { BrokerError, BrokerReply, CapabilityReply } from "../request.ts";
import { type Denial, denialOf, type GrantHolder, grantedText } from "../denial.ts";
import type { OwnNeed } from "../family.ts";
import { covers, type Grant } from "../grant.ts";
import { bringFamily, restoreGrant } from "../next-steps.ts";

type Refused = Extract<BrokerReply, { ok: false }>;

export function failed(error: BrokerError): Refused {
  return { ok: false, error };
}

/** The part of the error for the tool. */
export function toldOf({ code, message, hint }: BrokerError): Extract<CapabilityReply, { ok: false }> {
  return { ok: false, error: { code, message, hint } };
}

/** Something of the host broke its promise: the tool learns nothing of it. */
export function outOfOrder(error: unknown): BrokerError {
  const operatorHint = `A broker, a store or the log failed with ${safeErrorField(error, "name") ?? "no error"}.`;
  return { code: "UNAVAILABLE", message: "The capability is out of order.", hint: "", operatorHint };
}

function denied(message: string, hint = "", operatorHint = ""): BrokerError {
  return { code: "CAPABILITY_DENIED", message, hint, operatorHint };
}

export function unknown(kind: string): BrokerError {
  return denied(`This kernel knows no kind ${JSON.stringify(kind.slice(0, 100))}.`, "Use another tool.", bringFamily);
}

export function unserved(kind: string): BrokerError {
  const operatorHint = `Give the kernel a broker for ${kind}, or run the tool on a host that has one.`;
  return denied(`This host does not serve ${kind}.`, "Use another tool.", operatorHint);
}

export function revoked(kind: string, reason: string): BrokerError {
  return { ...denied(`The grant for ${kind} was revoked: ${reason}`, "", restoreGrant), reason: "revoked" };
}

/** The policy's refusal of a granted request. */
function forbidden(reason: string, { notPlain = "Make another request." }: OwnNeed): BrokerError {
  return { ...denied(reason, notPlain, liftPolicy), reason: "forbidden" };
}

const liftPolicy = "A deny of the policy overrides every grant. Change the rule or list if you intend the access.";

export const ended: Refused = /* @__PURE__ */ failed(
  /* @__PURE__ */ denied("The call has ended; its grants ended with it."),
);

export function bounds(message: string, operatorHint = ""): BrokerError {
  return { code: "BOUNDS_EXCEEDED", message, hint: "Do less in one call.", operatorHint };
}

/** How a call fails when its tool does not handle a refusal. */
export const codeOfRefusal: Readonly<Record<BrokerError["code"], ErrorCode>> = {
  CAPABILITY_DENIED: "CAPABILITY_DENIED",
  BOUNDS_EXCEEDED: "BOUNDS_EXCEEDED",
  INVALID_REQUEST: "TOOL_ERROR",
  NOT_FOUND: "TOOL_ERROR",
  UNAVAILABLE: "TOOL_ERROR",
  CANCELLED: "CANCELLED",
};

/** The refusal of a need that the grant does not cover. */
function uncovered(grant: Grant, need: OwnNeed, holder: GrantHolder): BrokerError {
  const { reason, granted, operatorHint } = denialOf(grant, need, holder);
  const hint = reason === "undeclared" ? "Use another tool: no grant lets this one do it." : grantedText(need, granted);
  const hints = need.notPlain === undefined ? hint : `${need.notPlain} ${hint}`;
  return { ...denied(`${leavesOut[reason]} ${need.kind} of ${need.target}.`, hints, operatorHint), reason };
}

/** The grant and the policy for the needs of a call. */
export interface RequestAuthority {
  readonly grant: Grant;
  readonly holder: GrantHolder;
  /** The reason, as a sentence, why the policy refuses a request that the grant covers. */
  readonly refusal?: ((need: OwnNeed) => string | undefined) | undefined;
}

/** The reason for the refusal of a need: the one place for a request at the gate, and for a target that arguments name. */
export function refusalOf(need: OwnNeed, { grant, holder, refusal }: RequestAuthority): BrokerError | undefined {
  if (!covers(grant, need)) return uncovered(grant, need, holder);
  const reason = refusal?.(need);
  return reason === undefined ? undefined : forbidden(reason, need);
}

const leavesOut: Readonly<Record<Denial["reason"], string>> = {
  undeclared: "The tool does not declare",
  "not-granted": "The policy does not grant",
  narrowed: "The call's own `grants` leave out",
  "not-held": "When the call was suspended, it did not hold",
};
