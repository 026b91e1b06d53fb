import type { Call } from "../call/call.ts";
import { isJsonObject, type JsonValue } from "../normalize/json.ts";
import { snapshot } from "../normalize/snapshot.ts";
import type { CapabilityReply } from "../capability/broker.ts";
import { type Frozen, type FrozenCall, type FrozenRequest, type FrozenRun, kernelVersion } from "./frozen.ts";
import type { Live, Place } from "./live.ts";
import type { Pending } from "./requests.ts";

/** The isolates of the calls that run, with what their hosts call them. */
export type Isolates = ReadonlyMap<Live, Pick<FrozenRun, "isolate" | "hostKind">>;

export function freeze(root: Live, snapshotId: string, isolates: Isolates): Frozen {
  const { callsLeft, messagesLeft } = root.call.tree;
  const { log, policyState, authority } = root.steps.parts;
  return {
    version: kernelVersion,
    snapshotId,
    log: log.end,
    root: freezeCall(root, isolates),
    labels: policyState.labels.of(root.call.sessionId, authority().policy.allLabels),
    tree: { callsLeft, messagesLeft },
  };
}

function freezeCall(live: Live, isolates: Isolates): FrozenCall {
  const { call, path, steps, place } = live;
  if (place.kind === "on-its-way") throw new TypeError("a call on its way is not put aside");
  const { tool, inputText } = place.kind === "asking" ? place.decided : place.started;
  const { callId, sessionId, caller, traceparent, correlationId, seed, nowMs, queuedMs, warnings } = call;
  const { name, version } = tool.manifest;
  const asItIs = { callId, sessionId, caller, traceparent, correlationId, seed, nowMs, queuedMs, warnings, inputText };
  return {
    ...asItIs,
    tool: name,
    version,
    toolHash: tool.hash,
    options: optionsOf(call),
    elapsedMs: steps.parts.clock.monotonicMs() - call.arrivedMs,
    editedBy: path.edited?.proof ?? null,
    edits: path.edits ?? 0,
    key: path.key ?? null,
    state: place.kind === "asking" ? questionOf(place) : runOf(live, place, isolates),
  };
}

/** They were read when the call came; what is foreign of them is read once more, for as long as the call lives. */
function optionsOf({ options }: Call): FrozenCall["options"] {
  const { bounds, cache, grants, idempotencyKey, references, waitMs } = options;
  const given = { bounds, cache, grants, idempotencyKey, references, waitMs };
  const present = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const plain = snapshot(present);
  if (!plain.ok || !isJsonObject(plain.value)) throw new TypeError("options that were read once cannot be read again");
  return plain.value;
}

function questionOf({ decided, approvalId }: Extract<Place, { kind: "asking" }>): FrozenCall["state"] {
  const { inputHash: argsHash, grant, policy, mode } = decided;
  return { kind: "asking", approvalId, argsHash, grantHash: grant.hash, policyHash: policy.hash, mode };
}

function runOf(
  live: Live,
  { started, requests }: Extract<Place, { kind: "running" }>,
  isolates: Isolates,
): FrozenCall["state"] {
  const { proof, policy, mode, grant, gate, deadline, attempt, used } = started;
  return {
    kind: "running",
    ...isolates.get(live)!,
    proof,
    policyHash: policy.hash,
    mode,
    layers: grant.layers,
    real: grant.kinds.filter((kind) => (kind === "clock" || kind === "random") && gate.revoked(kind) === undefined),
    counts: gate.counts,
    revocations: gate.revocations,
    leftMs: deadline.leftMs,
    pauseLeftMs: deadline.pauseLeftMs,
    attempt,
    used: Array.from(used, (usage) => usage ?? {}),
    requests: requests.pending.map((pending) => requestOf(pending, isolates)),
  };
}

function requestOf({ ticket, reply, child }: Pending<Live>, isolates: Isolates): FrozenRequest {
  const index = ticket.index ?? null;
  if (reply) return { index, kind: "answered", ...answerOf(reply) };
  return child ? { index, kind: "call", call: freezeCall(child, isolates) } : { index, kind: "open" };
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
