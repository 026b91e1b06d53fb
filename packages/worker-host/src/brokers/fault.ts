import type { BrokerError, BrokerReply } from "@keyhole/kernel";

/** The answer of a broker that does not serve a request. */
export type Refused = Extract<BrokerReply, { ok: false }>;

export function refused(code: BrokerError["code"], message: string, hint = "", operatorHint = ""): Refused {
  return { ok: false, error: { code, message, hint, operatorHint } };
}

export const cancelled: Refused = refused("CANCELLED", "The call ended before the answer to its request.");
