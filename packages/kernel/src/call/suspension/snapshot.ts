import { present } from "../../support/guards.ts";
import type { CallRecord } from "../record/record.ts";
import type { Clock } from "../../isolate/clock.ts";
import { isJsonObject, type JsonValue } from "../../json/json.ts";
import { snapshot } from "../../json/snapshot.ts";
import type { CapabilityReply } from "../../capability/request.ts";
import type { ExtensionContext } from "../extension.ts";
import { fuelOf } from "../nested/nested-fuel.ts";
import {
  type Snapshot,
  type SnapshotCall,
  type SnapshotRequest,
  type SnapshotRun,
  kernelVersion,
} from "./snapshot-format.ts";
import type { SuspendableCall, SuspensionPhase } from "./suspension-port.ts";
import type { Pending } from "./requests.ts";

/** The isolates of the calls that run, with what their hosts call them. */
export type Isolates = ReadonlyMap<SuspendableCall, Pick<SnapshotRun, "isolate" | "hostKind">>;

export function takeSnapshot(
  root: SuspendableCall,
  snapshotId: string,
  isolates: Isolates,
  context: ExtensionContext,
): Snapshot {
  const { call } = root;
  const { callsLeft, messagesLeft } = call.tree;
  return {
    version: kernelVersion,
    snapshotId,
    log: context.log.end,
    root: freezeCall(root, isolates, context.clock),
    labels: context.labels.of(call, context.authority().policy.allLabels),
    tree: { callsLeft, messagesLeft },
  };
}

function freezeCall(live: SuspendableCall, isolates: Isolates, clock: Clock): SnapshotCall {
  const { call, phase } = live;
  if (phase.kind === "on-its-way") throw new TypeError("a running call cannot be suspended");
  const { tool } = phase.kind === "asking" ? phase.decided : phase.started;
  const { callId, sessionId, caller, traceparent, correlationId, seed, nowMs, queuedMs, warnings, edits } = call;
  const { name, version } = tool.manifest;
  const asItIs = { callId, sessionId, caller, traceparent, correlationId, seed, nowMs, queuedMs, warnings, edits };
  return {
    ...asItIs,
    tool: name,
    version,
    toolHash: tool.hash,
    options: optionsOf(call),
    elapsedMs: clock.monotonicMs() - call.arrivedMs,
    fuelLeft: call.parent?.fuelLeft ?? null,
    nestedFuelLeft: fuelOf(call)?.left ?? null,
    parts: call.carriedNow(),
    run: phase.kind === "asking" ? null : runOf(live, phase, isolates, clock),
  };
}

/** They were read when the call came; what is foreign of them is read once more, for as long as the call lives. */
function optionsOf({ options }: CallRecord): SnapshotCall["options"] {
  const { bounds, cache, grants, idempotencyKey, raw, references, waitMs } = options;
  const given = { bounds, cache, grants, idempotencyKey, raw, references, waitMs };
  const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const plain = snapshot(known);
  if (!plain.ok || !isJsonObject(plain.value))
    throw new TypeError("the options of a resumed call cannot be read again");
  return plain.value;
}

function runOf(
  live: SuspendableCall,
  { started, requests }: Extract<SuspensionPhase, { kind: "running" }>,
  isolates: Isolates,
  clock: Clock,
): SnapshotRun {
  return {
    ...present(isolates.get(live)),
    revocations: started.gate.revocations,
    requests: requests.pending.map((pending) => requestOf(pending, isolates, clock)),
  };
}

function requestOf(
  { ticket, reply, child }: Pending<SuspendableCall>,
  isolates: Isolates,
  clock: Clock,
): SnapshotRequest {
  const index = ticket.index ?? null;
  if (reply) return { index, kind: "answered", ...answerOf(reply) };
  return child ? { index, kind: "call", call: freezeCall(child, isolates, clock) } : { index, kind: "open" };
}

function answerOf(reply: CapabilityReply): Pick<Extract<SnapshotRequest, { kind: "answered" }>, "replyText" | "body"> {
  if (!reply.ok) return { replyText: JSON.stringify(reply), body: null };
  // A copy: a view of another kind, as Node's files give, would write itself as JSON.
  const body = reply.body ? new Uint8Array(reply.body) : null;
  return { replyText: JSON.stringify({ ok: true, value: reply.value }), body };
}

/** The answer as it was. */
export function replyOf({ replyText, body }: Extract<SnapshotRequest, { kind: "answered" }>): CapabilityReply {
  const reply = JSON.parse(replyText) as CapabilityReply & { readonly value: JsonValue };
  return reply.ok && body ? { ok: true, value: reply.value, body } : reply;
}
