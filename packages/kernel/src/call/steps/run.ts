import { present } from "../../support/guards.ts";
import type { AuditLog } from "../../audit/log.ts";
import type { Clock } from "../../isolate/clock.ts";
import type { Owner } from "../../isolate/pool/lease.ts";
import type { IsolatePool } from "../../isolate/pool/pool.ts";
import type { IsolateCall, IsolateHost } from "../../isolate/port.ts";
import { boundedCall, type BoundedCall } from "../../isolate/bounded-call.ts";
import { type RunEnd, runInIsolate, type RunOptions } from "../../isolate/run.ts";
import type { Onward } from "../../tool/define.ts";
import { withProgram } from "../../tool/program.ts";
import { usageOf } from "../ending/spent.ts";
import { callsAround, countAround } from "../record/ancestors.ts";
import { type CallFault, Suspended } from "../faults/fault.ts";
import type { CallRecord } from "../record/record.ts";
import type { Started } from "./start.ts";
import { chargeOwn } from "./own-access.ts";

declare class Made {
  #run: never;
}
/** A call whose isolate has answered, or was stopped, and whose gate is closed. */
export interface Ran extends Made {
  readonly started: Started;
  readonly end: Exclude<RunEnd, { kind: "suspended" }>;
}

/** A run that can be suspended: its own way to the gate, and into its isolate. */
export interface SuspendableRun extends Pick<RunOptions, "gate" | "onLease"> {
  /** Opens the isolate that the call was suspended in. */
  readonly thaw: Owner["thaw"];
  /**
   * No part of the call continues. Resolves when the snapshot is on record, or when there is none.
   */
  put(): Promise<CallFault>;
}

export interface RunPorts {
  readonly pools: ReadonlyMap<IsolateHost, IsolatePool>;
  readonly clock: Clock;
  readonly log: AuditLog;
  readonly onRun: ((started: Started) => SuspendableRun | undefined) | undefined;
}

/** Step 8. When it resolves, the grants of the run have ended, and so have the calls that it made. */
export function run(state: Started, { pools, clock, log, onRun }: RunPorts): Promise<Ran> {
  const { call, tool, host, gate, deadline, input, attempt, used, brake, flow, body } = state;
  const suspendable = onRun?.(state);
  const owner = ownerOf(state);
  const bounded = isolateCallOf(state);
  // Of an isolate that does not open: nothing, or what it used before the suspension, which it alone knows.
  if (bounded.fuel !== undefined) used[attempt - 1] = { fuelUsed: suspendable?.thaw ? bounded.fuel : 0 };
  const running = runInIsolate(withProgram(tool, input, call.hash), bounded, {
    pool: present(pools.get(host)),
    owner: suspendable?.thaw ? { ...owner, thaw: suspendable.thaw } : owner,
    clock,
    gate: suspendable?.gate ?? gate,
    onLease: suspendable?.onLease,
    deadline,
    cancel: call.options.signal,
    brake,
    abandoned: call.parent?.ended,
    onLog: call.options.onLog,
    onProgress: call.options.onProgress,
    charge: (bytes, isRequest) => {
      const refusal = chargeOwn(state, bytes, isRequest ? log : undefined);
      if (!refusal) state.own.bytes += bytes;
      return refusal;
    },
    onUsed: (usage) => {
      used[attempt - 1] = usage;
    },
    flow,
    body,
  });
  const ran = (end: RunEnd): Ran => {
    if (end.kind !== "suspended") return { started: state, end } as Ran;
    if (suspendable) throw new Suspended(suspendable.put());
    throw new TypeError("this kernel suspends no runs");
  };
  return running.then((end) => gate.settled()?.then(() => ran(end)) ?? ran(end));
}

function isolateCallOf(state: Started): BoundedCall {
  const { call, tool, bounds, gate, grant, inputText, deadline, attempt, used, isMetered } = state;
  // All runs of a call share its fuel. An isolate that is thawed knows its own use.
  const { fuelUsed = 0 } = usageOf(used.slice(0, attempt - 1));
  // A pure tool depends on neither: it sees what module code sees, the epoch and one fixed sequence.
  const { seed, nowMs } = tool.manifest.determinism === "pure" ? noMoment : call;
  const plain = {
    callId: call.callId,
    sessionId: call.sessionId,
    inputText,
    outputKind: tool.manifest.output.kind,
    ...(call.body && { hasBody: true }),
    ...(tool.manifest.output.transfer && { outputTransfer: true }),
    seed,
    nowMs,
    ...(tool.manifest.source === "inline" && { onward: onwardOf(call, deadline.leftMs) }),
    real: realOf(grant.sources.filter((kind) => !gate.revoked(kind))),
  };
  return boundedCall(plain, bounds, { fuelUsed, isMetered });
}

function realOf(kinds: readonly string[]): IsolateCall["real"] {
  return { clock: kinds.includes("clock"), random: kinds.includes("random") };
}

function onwardOf({ caller, traceparent, options: { idempotencyKey } }: CallRecord, timeoutMs: number): Onward {
  return { caller, traceparent, timeoutMs, ...(idempotencyKey !== undefined && { idempotencyKey }) };
}

const noMoment = { seed: "0".repeat(64), nowMs: 0 } as const;

/**
 * A session of one caller has one isolate of a tool. A nested call of the same tool gets another
 * isolate: the kernel can stop it alone, and it does not wait for its parent's isolate.
 */
function ownerOf({ call, tool }: Started): Owner {
  const { callId, caller, sessionId, parent } = call;
  if (!parent) return { callId, caller, sessionId, within: noCalls, around: 0 };
  const around = countAround(call, ({ toolHash }) => toolHash === tool.hash);
  return { callId, caller, sessionId, within: callsAround(call), around };
}

const noCalls: readonly string[] = [];
