import type { BrokerSession, Usage } from "../broker.ts";
import type { BrokerError } from "../request.ts";
import type { Need } from "../capability.ts";
import type { Family, OwnNeed } from "../family.ts";
import type { GateCounts } from "./call-usage.ts";
import type { Grant } from "../grant.ts";
import type { Ledger } from "./ledger.ts";
import { bounds } from "./refusals.ts";

/** The used part of a call's budget. */
type Spent = { -readonly [Name in "networkRequests" | "networkBytes" | "budgets"]: GateCounts[Name] };

/** The budget of a call. */
export interface Budget {
  readonly grant: Grant;
  readonly networkRequests: number;
  readonly networkBytes: number;
  /** The budget of the call from within which this one was made. */
  readonly spend?: BrokerSession["spend"] | undefined;
  /** The gate of that call. */
  readonly around?: { affect(family: Family): void } | undefined;
}

/** Counts for this call and for all around it, or for none. */
export function spend(
  usage: Usage,
  need: OwnNeed,
  ledger: Ledger,
  spent: Spent,
  budget: Budget,
): BrokerError | undefined {
  const { networkRequests, networkBytes } = budget;
  const { networkRequests: requests = 0, networkBytes: bytes = 0 } = usage;
  if (spent.networkRequests + requests > networkRequests)
    return bounds(`The call may make ${networkRequests} network requests.`, raise("networkRequests"));
  if (spent.networkBytes + bytes > networkBytes)
    return bounds(`The call may move ${networkBytes} bytes over the network.`, raise("networkBytes"));
  const refusal = ledger.charge(need, usage, () => budget.spend?.(usage, need.json as Need));
  if (refusal) return refusal;
  spent.networkRequests += requests;
  spent.networkBytes += bytes;
  spent.budgets = ledger.taken;
  return undefined;
}

const raise = (bound: string): string =>
  `Raise \`bounds.${bound}\` in the tool's manifest; where the policy or the call lowers it, raise it there.`;
