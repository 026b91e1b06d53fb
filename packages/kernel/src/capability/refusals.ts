import { said } from "../normalize/said.ts";
import type { ErrorCode } from "../result.ts";
import type { BrokerError, BrokerReply, CapabilityReply } from "./broker.ts";
import type { CapabilityKind, Need } from "./capability.ts";
import { describeCapability, targetOf } from "./describe.ts";
import { declares, type Grant } from "./grant.ts";

type Refused = Extract<BrokerReply, { ok: false }>;

export function failed(error: BrokerError): Refused {
  return { ok: false, error };
}

/** What a tool hears of it. */
export function toldOf({ code, message, hint }: BrokerError): Extract<CapabilityReply, { ok: false }> {
  return { ok: false, error: { code, message, hint } };
}

/** Something of the host broke its promise: the tool learns nothing of it. */
export function outOfOrder(error: unknown): BrokerError {
  const operatorHint = `A broker, a store or the log failed with ${said(error, "name") ?? "no error"}.`;
  return { code: "UNAVAILABLE", message: "The capability is out of order.", hint: "", operatorHint };
}

export function denied(message: string, hint = "", operatorHint = ""): BrokerError {
  return { code: "CAPABILITY_DENIED", message, hint, operatorHint };
}

export function unreadable(why: string): BrokerError {
  return { code: "INVALID_REQUEST", message: `The request's arguments are not JSON: ${why}.`, hint: "" };
}

export function unserved(kind: CapabilityKind): BrokerError {
  const operatorHint = `Give createKernel a broker for ${kind}, or run the tool on a host that has one.`;
  return denied(`This host does not serve ${kind}.`, "Use another tool.", operatorHint);
}

export function revoked(kind: CapabilityKind, reason: string): BrokerError {
  return denied(`The grant for ${kind} was revoked: ${reason}`, "", restoreGrant);
}

export const restoreGrant: string = "Restore the grant with `kernel.grants.restore`, when the reason is gone.";

/** What the policy says to a request that is granted. */
export function forbidden(reason: string): BrokerError {
  return denied(reason, "Ask for something else.", liftPolicy);
}

const liftPolicy =
  "A rule or a list of the policy forbids it, whatever is granted. Change that, if it is to be allowed.";

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

/** What a call is told of a need that its grant does not cover. */
export function uncovered(grant: Grant, need: Need): BrokerError {
  if (!declares(grant, need))
    return denied(
      `The tool does not declare ${need.kind} of ${targetOf(need)}.`,
      "Use another tool: no grant lets this one do it.",
      "Add it to `capabilities` of the tool's manifest: a grant gives no more than the tool declares.",
    );
  const granted = grant.layers.at(-1)?.filter((capability) => capability.kind === need.kind) ?? [];
  return denied(
    `The call has no grant for ${need.kind} of ${targetOf(need)}.`,
    granted.length > 0
      ? `Granted: ${granted.map(describeCapability).join("; ").slice(0, 500)}.`
      : `Nothing of kind ${need.kind} is granted.`,
  );
}
