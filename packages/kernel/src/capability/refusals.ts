import { said } from "../normalize/said.ts";
import type { ErrorCode } from "../result.ts";
import type { CapabilityError, CapabilityReply } from "./broker.ts";
import type { Need } from "./capability.ts";
import { describeCapability, targetOf } from "./describe.ts";
import { declares, type Grant } from "./grant.ts";

type Refused = Extract<CapabilityReply, { ok: false }>;

export function failed(error: CapabilityError): Refused {
  return { ok: false, error };
}

/** Something of the host broke its promise: the tool learns nothing of it. */
export function outOfOrder(error: unknown): CapabilityError {
  return { code: "UNAVAILABLE", message: "The capability is out of order.", hint: said(error, "name") ?? "" };
}

export function denied(message: string, hint = ""): CapabilityError {
  return { code: "CAPABILITY_DENIED", message, hint };
}

export const ended: Refused = /* @__PURE__ */ failed(
  /* @__PURE__ */ denied("The call has ended; its grants ended with it."),
);

export function bounds(message: string): CapabilityError {
  return { code: "BOUNDS_EXCEEDED", message, hint: "Do less in one call, or raise the bound in the tool's manifest." };
}

/** How a call fails when its tool does not handle a refusal. */
export const codeOfRefusal: Readonly<Record<CapabilityError["code"], ErrorCode>> = {
  CAPABILITY_DENIED: "CAPABILITY_DENIED",
  BOUNDS_EXCEEDED: "BOUNDS_EXCEEDED",
  INVALID_REQUEST: "TOOL_ERROR",
  NOT_FOUND: "TOOL_ERROR",
  UNAVAILABLE: "TOOL_ERROR",
  CANCELLED: "CANCELLED",
};

/** What a call is told of a need that its grant does not cover. */
export function uncovered(grant: Grant, need: Need): CapabilityError {
  if (!declares(grant, need))
    return denied(
      `The tool does not declare ${need.kind} of ${targetOf(need)}.`,
      "Add it to `capabilities` of its manifest: a grant gives no more than the tool declares.",
    );
  const granted = grant.layers.at(-1)?.filter((capability) => capability.kind === need.kind) ?? [];
  return denied(
    `The call has no grant for ${need.kind} of ${targetOf(need)}.`,
    granted.length > 0
      ? `Granted: ${granted.map(describeCapability).join("; ").slice(0, 500)}.`
      : `Nothing of kind ${need.kind} is granted.`,
  );
}
