import type { CapabilityError, CapabilityReply } from "@keyhole/kernel";

/** What every broker answers when it does not serve. */
export type Refused = Extract<CapabilityReply, { ok: false }>;

export function refused(code: CapabilityError["code"], message: string, hint = ""): Refused {
  return { ok: false, error: { code, message, hint } };
}

export const cancelled: Refused = refused("CANCELLED", "The call ended before the request was served.");
