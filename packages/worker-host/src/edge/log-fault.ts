import { type AuditEvent, limits, type Proof, verifyChain } from "@keyhole/kernel";
import { hashOf } from "@keyhole/kernel/audit";
import { readTraceparent } from "@keyhole/kernel/foreign";
import type { Evidence } from "./evidence.ts";
import { failed, type Outcome, skipped } from "./outcome.ts";

/** Each event has its own digest, and names that of the event before. */
export function chainFault({ events }: Evidence): Outcome {
  const [first] = events;
  if (first === undefined) return skipped("The edge sent no event.");
  const by = hashOf(first.hash);
  if (by === undefined) return failed("The hashes of the events name no known algorithm.");
  const runs = runsOf(events);
  for (const run of runs) {
    const chain = verifyChain(run, by);
    if (!chain.ok) return failed(chain.reason);
  }
  return runs.length === 1
    ? undefined
    : skipped("Each event has its hash. Events of other calls lie between them, so the chain is not whole here.");
}

/** Pieces without a gap. */
function runsOf(events: readonly AuditEvent[]): readonly (readonly AuditEvent[])[] {
  const runs: AuditEvent[][] = [];
  for (const event of events) {
    const last = runs.at(-1);
    const isNext = event.seq === (last?.at(-1)?.seq ?? Number.NaN) + 1;
    if (last !== undefined && isNext) last.push(event);
    else if (last !== undefined && event.seq <= (last.at(-1)?.seq ?? 0)) return [events];
    else runs.push([event]);
  }
  return runs;
}

/** The log has the call as it was asked for, its decision and its end. */
export function logFault(evidence: Evidence): Outcome {
  const { result, events, own, invoked, end } = evidence;
  if (events.length === 0) return skipped("The edge sent no event.");
  if (invoked === undefined) return failed("The events do not have the call.");
  if (invoked.payload.tool !== result.tool) return failed("The events are of another tool.");
  if (!isAsked(evidence, invoked)) return failed("The events are of another request.");
  const { proof } = result;
  if (proof !== undefined && !decisionsOf(evidence).some((event) => isOf(event.payload, proof)))
    return failed("The events do not have the decision of the proof.");
  if (end === undefined) return failed("The events do not have the end of the call.");
  const hasStarted = own.some(({ type }) => type === "tool.started");
  const isReused = own.some(({ type }) => type === "result.reused");
  if (end.type === "tool.blocked" ? hasStarted : !(hasStarted || isReused))
    return failed("The events contradict each other: whether the tool ran.");
  return isUseTold(evidence) ? undefined : failed("The events contradict each other: the effects.");
}

function isAsked({ asked, tool, inputs, own, result }: Evidence, invoked: NonNullable<Evidence["invoked"]>): boolean {
  const { inputHash, correlationId } = invoked.payload;
  const { sessionId, traceparent } = invoked;
  // A failed call can end before its input is read.
  const isInput =
    inputHash === null ? !result.ok : !tool || hashOf(inputHash)?.jsonOrFault(inputs[0] ?? null) === inputHash;
  return (
    isInput &&
    isName(asked.sessionId, sessionId) &&
    isName(asked.correlationId, correlationId) &&
    isTrace(asked.traceparent, traceparent) &&
    own.every((event) => event.sessionId === sessionId && event.traceparent === traceparent)
  );
}

/** The kernel gives another name to one that its log cannot carry. */
function isName(asked: string | undefined, recorded: string | null): boolean {
  if (asked === undefined || asked === "" || asked.length > limits.nameLength || !asked.isWellFormed()) return true;
  return asked === recorded;
}

/** A malformed trace counts as none. */
function isTrace(asked: string | undefined, recorded: unknown): boolean {
  const [traceId] = readTraceparent(asked);
  return traceId === undefined || readTraceparent(recorded)[0] === traceId;
}

type Decided = Extract<AuditEvent, { type: "policy.decided" }>;

/** The decisions of which a result can have the proof: its last one, or a refused request that ended it. */
function decisionsOf({ own, result }: Evidence): readonly Decided[] {
  const decided = own.filter((event) => event.type === "policy.decided");
  const last = decided.findLast(({ payload }) => payload.reasonCode !== "request-denied");
  const isDenied = !result.ok && result.error.code === "CAPABILITY_DENIED";
  return decided.filter((each) => each === last || (isDenied && each.payload.reasonCode === "request-denied"));
}

function isOf(payload: Decided["payload"], proof: Proof): boolean {
  return payload.proofHash === proof.hash && payload.decision === proof.decision;
}

/** The end tells each effect that a request had. */
function isUseTold({ tool, own, end }: Evidence): boolean {
  const told: readonly string[] = (end && end.type !== "tool.blocked" && end.payload.effects) || [];
  const declared: readonly string[] = tool?.manifest.effects ?? [];
  return own.every(
    (event) =>
      event.type !== "capability.used" ||
      event.payload.outcome !== "ok" ||
      !declared.includes(event.payload.kind) ||
      told.includes(event.payload.kind),
  );
}
