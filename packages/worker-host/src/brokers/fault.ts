import type { BrokerError, BrokerReply } from "@keyhole/kernel";

/** What every broker answers when it does not serve. */
export type Refused = Extract<BrokerReply, { ok: false }>;

export function refused(code: BrokerError["code"], message: string, hint = "", operatorHint = ""): Refused {
  return { ok: false, error: { code, message, hint, operatorHint } };
}

export const cancelled: Refused = refused("CANCELLED", "The call ended before the request was served.");
