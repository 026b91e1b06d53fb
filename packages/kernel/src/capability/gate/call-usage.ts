import * as limits from "../../limits.ts";
import type { Broker } from "../broker.ts";
import type { BrokerError } from "../request.ts";
import type { Family } from "../family.ts";
import type { Taken } from "./ledger.ts";

/** A refusal that a tool received. */
export interface LastRefusal extends BrokerError {
  /** As the journal names it. Absent where the request never got there. */
  readonly request?: { readonly kind: string; readonly target: string };
}

/** The use of a call so far. Plain data, so it can move with a suspended call. */
export interface GateCounts {
  /** The effects that happened, or may have. Sorted and distinct. */
  readonly effects: readonly string[];
  /** Whether any request got as far as its broker. */
  readonly wasUsed: boolean;
  readonly requestsLeft: number;
  readonly networkRequests: number;
  readonly networkBytes: number;
  /** The used parts of the capabilities' budgets. */
  readonly budgets: Readonly<Record<string, Taken>>;
  /** The last one that the tool received: how a call fails when the tool does not handle it. */
  readonly lastRefusal: LastRefusal | undefined;
  /** Of the next entry in the journal. */
  readonly index: number;
  /** Secrets whose values went out. */
  readonly revealed: readonly { readonly name: string; readonly host: string }[];
}

/** One request on its way through a gate, for suspension. */
export interface Ticket {
  /** Of its entry in the journal, from the moment it has one; given before where the request had one already. */
  index?: number;
  /** The resuming kernel repeats the request, so its present answer is dropped. */
  isWithdrawn?: boolean;
  /** Serves it in place of its broker. */
  readonly serve?: Broker["serve"];
}

export const noCounts: GateCounts = {
  effects: [],
  wasUsed: false,
  requestsLeft: limits.requestsPerCall,
  networkRequests: 0,
  networkBytes: 0,
  budgets: {},
  lastRefusal: undefined,
  index: 0,
  revealed: [],
};

/** With that of a request, or of what serving it needs besides: the hop of a redirect, a file of a command. */
export function effectsWith({ kind, effect }: Family, effects: readonly string[]): readonly string[] {
  return effect === "none" || effects.includes(kind) ? effects : [...effects, kind].toSorted();
}
