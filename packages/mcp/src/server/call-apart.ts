import type { ApprovalRequest, CallResult, Clock } from "@keyhole/kernel";
import type { McpCaller } from "./caller.ts";
import type { WaitingCall, WaitingCalls } from "./waiting-calls.ts";

interface Apart {
  readonly kept: WaitingCalls;
  readonly caller: McpCaller;
  /** Of equal calls of one session. */
  readonly key: string;
  readonly clock: Clock;
  readonly waitMs: number;
  readonly begin: () => WaitingCall;
  /** The first of these; meanwhile the end of the exchange ends the call. */
  readonly following: (
    waiting: WaitingCall,
    outcomes: readonly Promise<CallResult | undefined>[],
  ) => Promise<CallResult | undefined>;
}

/** `isLater`: an earlier exchange made the call. */
type ApartEnd =
  | { readonly result: CallResult; readonly waiting: WaitingCall; readonly isLater: boolean }
  | { readonly open: ApprovalRequest | undefined };

/** A call for a client that cannot lead its user to a page. Where a person takes longer than the client waits, the call stays, and the next equal one takes its result. */
export async function callApart(apart: Apart): Promise<ApartEnd> {
  const { kept, caller, key, clock, waitMs, begin, following } = apart;
  const before = kept.find(key, caller);
  const wasOver = before !== undefined && before.question === undefined;
  const waiting = before ?? begin();
  const patience = Promise.withResolvers<undefined>();
  let stop = (): void => {};
  // The time of the tool itself is no wait for a person.
  const asked = waiting.question ? Promise.resolve() : waiting.asked;
  void asked.then(() => (stop = clock.after(waitMs, () => patience.resolve(undefined))));
  const result = await following(waiting, [waiting.outcome, patience.promise]).finally(() => stop());
  if (!result) {
    if (before || kept.keep(key, waiting)) return { open: waiting.question };
    waiting.decline("Too many calls wait for a person.");
    return { result: await waiting.outcome, waiting, isLater: false };
  }
  if (!before) return { result, waiting, isLater: false };
  // Another exchange fetched it, or it expired while no client waited: this call is a new one.
  const isExpired = wasOver && !result.ok && result.error.code === "APPROVAL_EXPIRED";
  return !kept.forget(key) || isExpired ? callApart(apart) : { result, waiting, isLater: true };
}
