import type { BrokerSession } from "@keyhole/kernel";

/** The call that a request belongs to. */
export type Requester = Pick<BrokerSession, "caller" | "outermostId" | "signal">;

/** Callers have shares of what is fewer than they need, and take turns; so do the calls of each. */
export const pathOf = ({ caller, outermostId }: Requester): readonly string[] => [caller, outermostId];
