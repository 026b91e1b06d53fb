import type { AuditLog } from "../../audit/log.ts";
import type { Broker } from "../../capability/broker.ts";
import { Gate, type GateOptions } from "../../capability/gate/gate.ts";
import { type RunningCall, withRevocations } from "../../capability/revocation.ts";
import type { SecretKeeper } from "../../capability/secret.ts";
import { Deadline } from "../../bounds/deadline.ts";
import { secretToken } from "../../id/placeholder.ts";
import { Body } from "../../isolate/body.ts";
import type { IsolateUsage } from "../../isolate/port.ts";
import { OutputStream } from "../../hash/output-stream.ts";
import { decide } from "../../policy/decision/decide.ts";
import type { LabelsOfRun, SessionLabels } from "../../policy/decision/session-labels.ts";
import { noChanges, type StateChange } from "../../state/change.ts";
import type { DeclaredCapability } from "../../tool/manifest.ts";
import { Brake } from "../record/brake.ts";
import { originPart } from "../record/origin.ts";
import { authorityText } from "../ending/given-again.ts";
import { learn, outermostOf, ownsSession } from "../record/ancestors.ts";
import type { MaybePromise } from "../../support/maybe-promise.ts";
import { gatePart, runPart } from "../record/carried-part.ts";
import { Denials } from "../record/denials.ts";
import type { Entry } from "../arrival/entry.ts";
import { assertCurrent, assertStartable, type AuthorizePorts } from "./authorize.ts";
import { grantHolderOf, type GrantPorts, holderOf, realPart } from "./check-grants.ts";
import { isDenied } from "./decide.ts";
import { recordDecision } from "./prove.ts";
import { requestGuard } from "./request-guard.ts";
import type { Reserved } from "./reserve.ts";
import { claimOwn } from "./own-access.ts";

declare class Made {
  #start: never;
}
/** A call whose start is on record. Only such a call may run, and only through its gate. */
export interface Started extends Reserved, Made {
  readonly gate: Gate;
  /** Number of its run, from 1. */
  readonly attempt: number;
  /** The cost of the runs so far, where the host counts it. */
  readonly used: IsolateUsage[];
  /** Of all its runs. */
  readonly deadline: Deadline;
  /** The bytes of this run that trusted code has charged by itself. */
  readonly own: { bytes: number };
  /** The requests that its gates refused. */
  readonly denials: Denials;
  /** Ends its run. */
  readonly brake: Brake;
  /** Where its output is a stream. */
  readonly flow: OutputStream | undefined;
  /** Where one comes with its input. */
  readonly body: Body | undefined;
}

/** Brokers of one call alone, beside the kernel's. */
export type BrokersOfCall = (state: Reserved, deadline: Deadline) => readonly Broker[];

export interface StartPorts extends AuthorizePorts, Pick<GrantPorts, "revocations"> {
  readonly log: AuditLog;
  readonly brokers: GateOptions["brokers"];
  readonly brokersOf: BrokersOfCall | undefined;
  readonly labels: SessionLabels;
  readonly secrets: SecretKeeper | undefined;
}

/**
 * Step 7, the barrier: no code of the tool runs before it has returned, or resolved. It throws, or
 * rejects, when the log cannot be written.
 */
export function recordStart(state: Reserved, { phase }: Entry, ports: StartPorts): MaybePromise<Started> {
  const { call, tool, host } = state;
  const { log } = ports;
  assertStartable(state, ports);
  noteOrigin(state, ports.labels);
  const labels = follow(state, ports.labels);
  // A resumed call has its start on record, and `tool.resumed`.
  if (phase !== "run") {
    const started = { tool: tool.id, toolHash: tool.hash, host: host.name };
    log.record("tool.started", call.scope, started, [
      ...learnt(state, ports.labels, labels),
      ...call.changesAt("start"),
    ]);
  }
  // The write took a while, and the record stands: from here on an end is `tool.failed`.
  const started = (): Started => claimOwn(assertCurrent(reach(startedAs(state, labels, ports)), ports), log);
  return log.flush()?.then(started) ?? started();
}

/** The result of a call that was suspended has all labels of its session. */
function noteOrigin(state: Reserved, labels: SessionLabels): void {
  const { call, tool, policy } = state;
  call.origin.authority = authorityText(state);
  call.origin.sessionLabels = state.decisionInput.labels;
  call.parent?.call.origin.called();
  learn(call, policy.labelsOf(tool.manifest.name));
  if (call.before) learn(call, labels.of(call, policy.allLabels));
}

/** Absent where no rule could ask for them. */
function follow({ call, policy }: Reserved, labels: SessionLabels): LabelsOfRun | undefined {
  if (policy.allLabels.length === 0) return undefined;
  const followed = labels.follow(call, policy.allLabels);
  call.defer(followed.end);
  return followed.labels;
}

/** From its start on the session carries the tool's labels. */
function learnt({ call, tool, policy }: Reserved, labels: SessionLabels, by?: LabelsOfRun): readonly StateChange[] {
  const names = policy.labelsOf(tool.manifest.name);
  return names.length === 0 ? noChanges : labels.add(call, names, ownsSession(call), by);
}

/** The call with everything that it runs with. */
function startedAs(state: Reserved, labels: LabelsOfRun | undefined, ports: StartPorts): Started {
  const { call, tool, bounds, policy, grant } = state;
  // A resumed call does not get its time or its budget back.
  const before = call.came(runPart);
  const leftMs = Math.min(before?.leftMs ?? Infinity, bounds.timeoutMs);
  const deadline = new Deadline(leftMs, ports.clock, before?.pauseLeftMs);
  const denials = new Denials((request) => {
    const grounds = { decision: "deny", reasonCode: "request-denied", request } as const;
    return recordDecision(state, grounds, ports, { parentProofId: state.proof.proofId });
  });
  const brake = new Brake();
  state.hold?.revoked.addEventListener("abort", () => brake.pull("Its approval was revoked."), { once: true });
  call.defer(ports.log.onFailure(() => brake.pull("The log cannot be written.")));
  const { limit, refusal } = requestGuard(state, labels, ports);
  const gate = new Gate({
    limit,
    refusal,
    onDenied: (kind, target, reason) => denials.add(kind, target, reason),
    families: policy.families,
    brokers: brokersFor(state, deadline, ports),
    counts: call.came(gatePart),
    hold: holdOf(state, ports, brake),
    secrets: secretsOf(state, ports),
    grant,
    holder: grantHolderOf(call, tool),
    hash: call.hash,
    requester: { caller: call.caller, outermostId: outermostOf(call).callId },
    networkRequests: bounds.networkRequests,
    networkBytes: bounds.networkBytes,
    spend: call.parent?.spend,
    around: call.parent?.call.progress.gate,
    journal: (use) => {
      ports.log.record("capability.used", call.scope, use);
      return ports.log.flush();
    },
  });
  const isStream = tool.manifest.output.kind === "stream";
  const flow = isStream ? new OutputStream(bounds.outputBytes, call.hash, call.output) : undefined;
  const body = call.body && new Body(bounds.bodyBytes, call.hash, call.body);
  const { attempt = 1, used = [] } = before ?? {};
  return {
    ...state,
    attempt,
    used: [...used],
    own: { bytes: 0 },
    deadline,
    gate: opened(gate, state, ports.log),
    denials,
    brake,
    flow,
    body,
  } as Started;
}

function carryRun({ call, gate, deadline, attempt, used, grant }: Started): void {
  call.carryLater(gatePart, () => gate.counts);
  call.carryLater(runPart, () => ({
    leftMs: deadline.leftMs,
    pauseLeftMs: deadline.pauseLeftMs,
    attempt,
    used: Array.from(used, (usage) => usage ?? {}),
  }));
  call.carryLater(originPart, () => call.origin.data);
  call.carryLater(realPart, () => grant.sources.filter((kind) => gate.revoked(kind) === undefined));
}

function reach(started: Started): Started {
  const { call } = started;
  if (call.isSuspendable) carryRun(started);
  return call.reach(started);
}

function brokersFor(state: Reserved, deadline: Deadline, { brokers, brokersOf }: StartPorts): GateOptions["brokers"] {
  const own = state.tool.manifest.capabilities.length > 0 ? brokersOf?.(state, deadline) : undefined;
  if (!own || own.length === 0) return brokers;
  return new Map([...brokers, ...own.flatMap((broker) => broker.families.map(({ kind }) => [kind, broker] as const))]);
}

function holdOf(state: Reserved, { revocations }: StartPorts, brake: Brake): GateOptions["hold"] {
  const { call, tool, policy, decisionInput, grant } = state;
  const { source, capabilities } = tool.manifest;
  // Counters, labels and time are those of its decision: only the mode is another one.
  const denialIn: RunningCall["denialIn"] = (mode) => {
    const verdict = decide(policy, { ...decisionInput, mode }, () => 0);
    return isDenied(verdict) ? verdict.reason : undefined;
  };
  // Code of the kernel's own realm can act without a request: a foreign server's tools do.
  const alone = source === "inline" ? capabilities.filter(canActAlone(policy)) : [];
  const holder = holderOf(call, tool);
  const standing = withRevocations(revocations, call.revocations);
  // An isolate keeps the real clock that it was given to its end. A call that begins after the revocation has a logical one.
  const sources = grant.sources.filter((kind) => standing.reasonFor(holder, kind) === undefined);
  const running: RunningCall = {
    denialIn,
    hasGrants: capabilities.length > 0,
    needed: [...alone.map(({ kind }) => kind), ...sources],
    stop: (why) => brake.pull(why),
  };
  return () => {
    const held = standing.track(holder, running);
    // Behind the run its result is on its way, and can still be withheld.
    call.defer(() => held.end());
    return held;
  };
}

/** Calls and secrets pass through the kernel always. */
function canActAlone({ families }: Reserved["policy"]): (capability: DeclaredCapability) => boolean {
  return ({ kind, optional }) => {
    const { isCall, secretNeed } = families.get(kind) ?? {};
    return optional !== true && isCall !== true && secretNeed === undefined;
  };
}

function secretsOf({ call, policy }: Reserved, { secrets: keeper, clock }: StartPorts): GateOptions["secrets"] {
  const needOf = policy.families.secrets?.secretNeed;
  return keeper && needOf && { keeper, token: secretToken(call.seed), needOf, namesAt: policy.secretsAt, clock };
}

/**
 * The same call with a new gate for its next run. Late messages of the last run meet a closed gate.
 */
export function nextAttempt(state: Started, ports: StartPorts): Started {
  assertCurrent(state, ports);
  const { gate, attempt } = state;
  const again = opened(gate.next(), state, ports.log);
  return claimOwn(reach({ ...state, attempt: attempt + 1, own: { bytes: 0 }, gate: again } as Started), ports.log);
}

/** It closes with its call, with the log, and with the call's approval. */
function opened(gate: Gate, { call, hold }: Reserved, log: AuditLog): Gate {
  call.defer(() => gate.close());
  call.defer(log.onFailure(() => gate.close(false)));
  hold?.revoked.addEventListener("abort", () => gate.close(false), { once: true });
  return gate;
}
