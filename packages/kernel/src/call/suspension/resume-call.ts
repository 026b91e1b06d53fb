import type { CallOptions, ResumeOptions } from "../arrival/call-options.ts";
import { versionedId } from "../../support/tool-names.ts";
import { present } from "../../support/guards.ts";
import { eventScope } from "../../audit/scope.ts";
import type { Broker } from "../../capability/broker.ts";
import { CallFault } from "../faults/fault.ts";
import type { Entry, Since } from "../arrival/entry.ts";
import { CallRecord, type Parent } from "../record/record.ts";
import type { Started } from "../steps/start.ts";
import { inputPart } from "../steps/validate.ts";
import type { CallResult } from "../../result.ts";
import { ownsSession } from "../record/ancestors.ts";
import { noChanges, type StateChange } from "../../state/change.ts";
import { withProgram } from "../../tool/program.ts";
import type { ExtensionContext } from "../extension.ts";
import { callerOf, replyOf, within } from "../nested/nested-calls.ts";
import { fuelOf, restoreFuel } from "../nested/nested-fuel.ts";
import { replyOf as answerOf } from "./snapshot.ts";
import { type Snapshot, type SnapshotCall, type SnapshotRequest, type SnapshotRun, partOf } from "./snapshot-format.ts";
import type { SuspendableCall, Restored } from "./suspension-port.ts";
import type { Again } from "./requests.ts";

/** The context in which the calls of one snapshot resume. */
export interface Resumption {
  readonly context: ExtensionContext;
  readonly snapshotId: string;
  /** The same for all calls of the snapshot. */
  readonly since: Since;
  /** Of the session when the call was suspended. */
  readonly labels: readonly string[];
  /** The changes for the event that resumes the outermost call. */
  readonly changes: readonly StateChange[];
  /** Notes the run of a call before the call resumes. */
  readonly thaws: (call: CallRecord, thaw: Restored) => void;
}

/** The call as it was before its suspension. */
export function restoreCall(
  frozen: SnapshotCall,
  { context: { clock, hash }, since }: Pick<Resumption, "context" | "since">,
  options: ResumeOptions,
  parent: Parent | undefined,
  tree: Snapshot["tree"] = { callsLeft: 0, messagesLeft: 0 },
): CallRecord {
  const { callId, sessionId, caller, traceparent, correlationId, seed, nowMs, tool, version } = frozen;
  const { queuedMs, warnings, parts, fuelLeft } = frozen;
  const given: CallOptions = { ...frozen.options, ...options, version };
  const identity = { callId, sessionId, caller, traceparent, correlationId, seed, nowMs };
  const call = new CallRecord({
    ...identity,
    hash,
    // The calls within it may have used some of what it was given: its own run is bounded as before.
    parent: parent && fuelLeft !== null ? { ...parent, fuelLeft } : parent,
    toolName: tool,
    options: correlationId === null ? given : { ...given, correlationId },
    scope: eventScope(callId, sessionId, traceparent, options.onEvent),
    arrivedMs: clock.monotonicMs() - frozen.elapsedMs,
    tree: parent?.call.tree ?? { ...tree },
    before: { queuedMs, warnings, parts, since },
  });
  call.edits = frozen.edits;
  restoreFuel(call, frozen.nestedFuelLeft);
  call.reach({ tool: { id: versionedId({ name: tool, version }) } });
  return call;
}

/**
 * Enters the pipeline at the phase in which the call left it. The caller of `resume` gets its end.
 */
export async function resumeRun(
  call: CallRecord,
  frozen: SnapshotCall,
  resumption: Resumption,
  hasSlot: boolean,
): Promise<CallResult> {
  const { context, snapshotId, thaws } = resumption;
  const { run, parts } = frozen;
  context.log.record("tool.resumed", call.scope, { snapshotId }, changesOf(call, frozen, resumption));
  const input: unknown = JSON.parse(partOf(parts, inputPart) ?? "null");
  if (!run) return context.perform(call, { phase: "question", input });
  const begun = new Set<SnapshotCall>();
  thaws(call, thawOf(run, resumption, begun));
  const entry: Entry = { phase: "run", input, hasSlot };
  try {
    return await context.perform(call, entry);
  } finally {
    for (const request of run.requests)
      if (request.kind === "call" && !begun.has(request.call)) await endUnasked(request.call, resumption);
  }
}

/** The labels of the data that the tools know, for the session in which they resume. */
function changesOf(
  call: CallRecord,
  { run, tool }: SnapshotCall,
  { context, labels, changes }: Resumption,
): readonly StateChange[] {
  const learnt = run ? [...labels, ...context.authority().policy.labelsOf(tool)] : labels;
  return [...context.labels.add(call, learnt, ownsSession(call)), ...(call.parent ? noChanges : changes)];
}

function thawOf({ isolate, requests }: SnapshotRun, resumption: Resumption, begun: Set<SnapshotCall>): Restored {
  return {
    // The kernel that resumes has made sure that there is one.
    open: ({ call, host, tool, input }, isWanted) =>
      present(host.thaw)(withProgram(tool, input, call.hash), isolate, isWanted),
    again: (started) => requests.map((request) => againOf(request, started, resumption, begun)),
  };
}

function againOf(
  request: SnapshotRequest,
  started: Started,
  resumption: Resumption,
  begun: Set<SnapshotCall>,
): Again<SuspendableCall> {
  const index = request.index === null ? {} : { index: request.index };
  switch (request.kind) {
    case "open":
      return { ticket: index };
    case "answered":
      return { ticket: index, reply: answerOf(request) };
    case "call": {
      const { call: frozen } = request;
      const serve: Broker["serve"] = async (_, session) => {
        begun.add(frozen);
        const make = (options: CallOptions, parent: Parent): Promise<CallResult> =>
          resumeRun(restoreCall(frozen, resumption, listenersOf(options), parent), frozen, resumption, false);
        const resume = (): Promise<CallResult> => within(callerOf(started, started.deadline), session, make);
        // The calls that waited for their turn behind it ask anew, and use what it leaves.
        return replyOf(await (fuelOf(started.call)?.inTurn(resume) ?? resume()), session);
      };
      return { ticket: { ...index, serve } };
    }
  }
}

/** The options of a call that the resuming program sets anew. */
export function listenersOf({
  signal,
  approver,
  nestedApprover,
  onEvent,
  onLog,
  onProgress,
}: CallOptions): ResumeOptions {
  const given = { signal, approver, nestedApprover, onEvent, onLog, onProgress };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** The call that waited for it did not come to ask again: every call has its end. */
async function endUnasked(frozen: SnapshotCall, resumption: Resumption): Promise<void> {
  const { context, snapshotId } = resumption;
  const call = restoreCall(frozen, resumption, {}, undefined);
  context.log.record("tool.resumed", call.scope, { snapshotId });
  await context.close(call, new CallFault("CANCELLED", "The parent call has ended."));
  for (const request of frozen.run?.requests ?? [])
    if (request.kind === "call") await endUnasked(request.call, resumption);
}
