import { eventScope } from "../audit/scope.ts";
import { Deadline } from "../bounds/deadline.ts";
import type { Bounds } from "../bounds/bounds.ts";
import type { Candidate, Limiter } from "../bounds/limiter.ts";
import type { Broker } from "../capability/broker.ts";
import { type Call, next, type Parent, type Step, stop } from "../call/call.ts";
import { boundsOf, callerOf, limitedStop, type Started, startedAs } from "../call/execute.ts";
import { spentBy } from "../call/finish.ts";
import { outermostOf, replyOf, within } from "../call/nested.ts";
import { resolve, validateInput } from "../call/admit.ts";
import { endOf } from "../call/reuse.ts";
import type { Path, Steps } from "../call/steps.ts";
import type { CallOptions, ResumeOptions } from "../call/call-options.ts";
import { limits } from "../limits.ts";
import type { JsonValue } from "../normalize/json.ts";
import type { CallResult } from "../result.ts";
import { withProgram } from "../tool/program.ts";
import { allowAgain } from "./allow-again.ts";
import { replyOf as answerOf } from "./freeze.ts";
import type { Frozen, FrozenCall, FrozenRequest, FrozenRun } from "./frozen.ts";
import type { Live, Thaw } from "./live.ts";
import type { Again } from "./requests.ts";
import type { Since } from "./since.ts";

/** Under what the calls of one snapshot go on. */
export interface Resumption {
  readonly steps: Steps;
  readonly snapshotId: string;
  readonly since: Since;
  /** Notes what a call goes on with, before it does. */
  readonly thaws: (call: Call, thaw: Thaw) => void;
}

/** The call as it was, for whoever resumes it. */
export function restoreCall(
  frozen: FrozenCall,
  { parts: { clock, hash, authority } }: Steps,
  options: ResumeOptions,
  parent: Parent | undefined,
  tree: Frozen["tree"] = { callsLeft: 0, messagesLeft: 0 },
): Call {
  const { callId, sessionId, caller, traceparent, correlationId, tool, version, seed, nowMs, queuedMs, state } = frozen;
  const { policy, mode } = authority();
  const isOther = state.kind === "running" && (state.policyHash !== policy.hash || state.mode !== mode);
  const given: CallOptions = { ...frozen.options, ...options, version };
  const asBefore = { callId, sessionId, caller, traceparent, correlationId, seed, nowMs, queuedMs };
  return {
    ...asBefore,
    hash,
    parent,
    toolName: tool,
    options: correlationId === null ? given : { ...given, correlationId },
    fault: undefined,
    output: undefined,
    body: undefined,
    scope: eventScope(callId, sessionId, traceparent, options.onEvent),
    arrivedMs: clock.monotonicMs() - frozen.elapsedMs,
    warnings: [...frozen.warnings],
    live: undefined,
    ...(isOther && { layers: state.layers }),
    tree: parent?.call.tree ?? { ...tree },
  };
}

/** From where it was. Its end is told to whoever resumed it; the one who made it was told that it is suspended. */
export function goOn(
  call: Call,
  frozen: FrozenCall,
  resumption: Resumption,
  release: (() => void) | undefined,
): Promise<CallResult> {
  const { steps, snapshotId, thaws } = resumption;
  const { log, keys, registry } = steps.parts;
  const { state, editedBy, edits, key } = frozen;
  const input = JSON.parse(frozen.inputText) as JsonValue;
  const path: Path = {
    isResumed: true,
    edits,
    ...(editedBy && { edited: { ok: false, edited: input, proof: editedBy } as const }),
    ...(release && { release }),
    ...(key && { key }),
  };
  log.record("tool.resumed", call.scope, { snapshotId });
  const found = registry.resolve(frozen.tool, frozen.version);
  const claim = key && found.ok ? keys.resume(key.keyHash, key.argsHash, call) : undefined;
  if (claim?.kind === "first" && found.ok) path.ends = [endOf(claim, found.tool)];
  if (state.kind === "running") return steps.under(call, path, () => run(call, frozen, state, path, resumption));
  thaws(call, { question: state });
  const isTaken = key !== null && claim?.kind !== "first";
  const ran = stop("INVALID_INPUT", "Another call used the idempotency key while this one was suspended.", {
    hint: "Find out what that call did; a new key runs it anew.",
  });
  return isTaken ? steps.under(call, path, () => steps.close(call, ran, path)) : steps.take(call, input, path);
}

async function run(
  call: Call,
  frozen: FrozenCall,
  state: FrozenRun,
  path: Path,
  resumption: Resumption,
): Promise<CallResult> {
  const { steps } = resumption;
  path.tool = `${frozen.tool}@${frozen.version}`;
  path.proof = state.proof;
  path.hasRun = true;
  const { effects, networkRequests, networkBytes } = state.counts;
  path.spent = { ...spentBy(undefined), effects, networkRequests, networkBytes, attempts: state.attempt };
  const begun = new Set<FrozenCall>();
  try {
    const ready = await readyToRun(call, frozen, state, path, resumption);
    if (!ready.ok) return await steps.close(call, ready, path);
    const { tool, host, input } = ready.state;
    resumption.thaws(call, {
      // The kernel that resumes has made sure that there is one.
      open: (isWanted) => host.thaw!(withProgram(tool, input, call.hash), state.isolate, isWanted),
      again: (started) => state.requests.map((request) => againOf(request, started, resumption, begun)),
    });
    path.started = ready.state;
    delete path.spent;
    return await steps.finish(ready.state, path);
  } finally {
    for (const request of state.requests)
      if (request.kind === "call" && !begun.has(request.call)) await endUnasked(request.call, resumption);
  }
}

async function readyToRun(
  call: Call,
  frozen: FrozenCall,
  state: FrozenRun,
  path: Path,
  resumption: Resumption,
): Promise<Step<Started>> {
  const { steps } = resumption;
  const { log, clock, registry, hosts, approvals, limiter } = steps.parts;
  await log.flush();
  const resolved = resolve(call, registry, hosts);
  const validated = resolved.ok ? validateInput(resolved.state, JSON.parse(frozen.inputText)) : resolved;
  if (!validated.ok) return validated;
  const allowed = await allowAgain(validated.state, state, path, resumption);
  if (!allowed.ok) return allowed;
  const { tool, policy, proof, hold } = allowed.state;
  path.proof = proof;
  const held = hold ?? (proof.approval ? approvals.hold(proof.approval.approvalId, Infinity) : undefined);
  if (held) path.hold = held;
  const bounds = boundsOf(tool, policy, call.options);
  if (!path.release) {
    const { caller, options } = call;
    const candidate = {
      toolId: tool.id,
      caller,
      outermostId: outermostOf(call).callId,
      bounds,
      signal: options.signal,
    };
    const slot = await reserveAgain(limiter, candidate);
    if (!slot.ok) return slot;
    path.release = slot.state;
  }
  const deadline = new Deadline(Math.min(state.leftMs, bounds.timeoutMs), clock, state.pauseLeftMs);
  const reserved = { ...allowed.state, ...(held && { hold: held }), bounds, release: path.release };
  const { attempt, used, counts } = state;
  return next(startedAs(reserved, steps.runParts, { attempt, used: [...used], deadline, counts }));
}

/** A place among the calls of its tool. It was counted in its hour when it began. */
export async function reserveAgain(
  limiter: Limiter,
  candidate: Omit<Candidate, "bounds"> & { readonly bounds: Bounds; readonly signal: AbortSignal | undefined },
): Promise<Step<() => void>> {
  const { bounds, signal } = candidate;
  const patience = { waitMs: limits.nestedWaitMs, signals: signal ? [signal] : [] };
  const slot = limiter.reserve({ ...candidate, bounds: { ...bounds, callsPerHour: undefined } }, patience);
  const reserved = "ok" in slot ? slot : await slot.end;
  return reserved.ok ? next(reserved.release) : limitedStop(candidate.toolId, reserved);
}

function againOf(
  request: FrozenRequest,
  started: Started,
  resumption: Resumption,
  begun: Set<FrozenCall>,
): Again<Live> {
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
          goOn(restoreCall(frozen, resumption.steps, heardOf(options), parent), frozen, resumption, undefined);
        return replyOf(await within(callerOf(started, started.deadline), session, make), session);
      };
      return { ticket: { ...index, serve } };
    }
  }
}

/** What of a call's options whoever resumes it gives anew. */
export function heardOf({ signal, approver, onEvent, onLog, onProgress }: CallOptions): ResumeOptions {
  const given = { signal, approver, onEvent, onLog, onProgress };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** The call that waited for it did not come to ask again: every call has its end. */
async function endUnasked(frozen: FrozenCall, resumption: Resumption): Promise<void> {
  const { steps, snapshotId } = resumption;
  const call = restoreCall(frozen, steps, {}, undefined);
  const path: Path = {
    isResumed: true,
    hasRun: frozen.state.kind === "running",
    tool: `${frozen.tool}@${frozen.version}`,
  };
  steps.parts.log.record("tool.resumed", call.scope, { snapshotId });
  const why = stop("CANCELLED", "The call that waited for it has ended.");
  await steps.under(call, path, () => steps.close(call, why, path));
  for (const request of frozen.state.kind === "running" ? frozen.state.requests : [])
    if (request.kind === "call") await endUnasked(request.call, resumption);
}
