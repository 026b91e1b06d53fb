import type { CallRecord } from "../../call/record.ts";
import type { Clock } from "../../isolate/clock.ts";
import { isJsonObject, type JsonValue } from "../../normalize/json.ts";
import { snapshot } from "../../normalize/snapshot.ts";
import type { CapabilityReply } from "../../capability/broker.ts";
import type { ExtensionContext } from "../extension.ts";
import { type Frozen, type FrozenCall, type FrozenRequest, type FrozenRun, kernelVersion } from "./frozen.ts";
import type { Live, Place } from "./live.ts";
import type { Pending } from "./requests.ts";

/** The isolates of the calls that run, with what their hosts call them. */
export type Isolates = ReadonlyMap<Live, Pick<FrozenRun, "isolate" | "hostKind">>;

export function freeze(root: Live, snapshotId: string, isolates: Isolates, context: ExtensionContext): Frozen {
  const { call } = root;
  const { callsLeft, messagesLeft } = call.tree;
  return {
    version: kernelVersion,
    snapshotId,
    log: context.log.end,
    root: freezeCall(root, isolates, context.clock),
    labels: context.labels.of(call.sessionId, context.authority().policy.allLabels),
    tree: { callsLeft, messagesLeft },
  };
}

function freezeCall(live: Live, isolates: Isolates, clock: Clock): FrozenCall {
  const { call, place } = live;
  if (place.kind === "on-its-way") throw new TypeError("a call on its way is not put aside");
  const { tool } = place.kind === "asking" ? place.decided : place.started;
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
    parts: call.carriedNow(),
    run: place.kind === "asking" ? null : runOf(live, place, isolates, clock),
  };
}

/** They were read when the call came; what is foreign of them is read once more, for as long as the call lives. */
function optionsOf({ options }: CallRecord): FrozenCall["options"] {
  const { bounds, cache, grants, idempotencyKey, references, waitMs } = options;
  const given = { bounds, cache, grants, idempotencyKey, references, waitMs };
  const present = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const plain = snapshot(present);
  if (!plain.ok || !isJsonObject(plain.value)) throw new TypeError("options that were read once cannot be read again");
  return plain.value;
}

function runOf(
  live: Live,
  { started, requests }: Extract<Place, { kind: "running" }>,
  isolates: Isolates,
  clock: Clock,
): FrozenRun {
  return {
    ...isolates.get(live)!,
    revocations: started.gate.revocations,
    requests: requests.pending.map((pending) => requestOf(pending, isolates, clock)),
  };
}

function requestOf({ ticket, reply, child }: Pending<Live>, isolates: Isolates, clock: Clock): FrozenRequest {
  const index = ticket.index ?? null;
  if (reply) return { index, kind: "answered", ...answerOf(reply) };
  return child ? { index, kind: "call", call: freezeCall(child, isolates, clock) } : { index, kind: "open" };
}

function answerOf(reply: CapabilityReply): Pick<Extract<FrozenRequest, { kind: "answered" }>, "replyText" | "body"> {
  if (!reply.ok) return { replyText: JSON.stringify(reply), body: null };
  // A copy: a view of another kind, as Node's files give, would write itself as JSON.
  const body = reply.body ? new Uint8Array(reply.body) : null;
  return { replyText: JSON.stringify({ ok: true, value: reply.value }), body };
}

/** The answer as it was. */
export function replyOf({ replyText, body }: Extract<FrozenRequest, { kind: "answered" }>): CapabilityReply {
  const reply = JSON.parse(replyText) as CapabilityReply & { readonly value: JsonValue };
  return reply.ok && body ? { ok: true, value: reply.value, body } : reply;
}
