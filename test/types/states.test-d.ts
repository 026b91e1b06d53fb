/** Checked by the compiler alone: a line that is wrong does not compile. */
import type { Ending } from "../../packages/kernel/src/call/ending/ending.ts";
import type { Entry } from "../../packages/kernel/src/call/arrival/entry.ts";
import type { CallRecord } from "../../packages/kernel/src/call/record/record.ts";
import type { Allowed } from "../../packages/kernel/src/call/steps/authorize.ts";
import type { Granted } from "../../packages/kernel/src/call/steps/check-grants.ts";
import { conclude, type ConcludePorts } from "../../packages/kernel/src/call/steps/conclude.ts";
import type { Decided } from "../../packages/kernel/src/call/steps/decide.ts";
import type { Normalized } from "../../packages/kernel/src/call/steps/normalize.ts";
import { reserve, type Reserved, type ReservePorts } from "../../packages/kernel/src/call/steps/reserve.ts";
import type { Resolved } from "../../packages/kernel/src/call/steps/resolve.ts";
import { run, type RunPorts } from "../../packages/kernel/src/call/steps/run.ts";
import type { Started } from "../../packages/kernel/src/call/steps/start.ts";
import type { Extension } from "../../packages/kernel/src/call/extension.ts";
import { type EffectiveBounds, effectiveBounds } from "../../packages/kernel/src/bounds/effective.ts";
import { boundedCall, type OwnIsolate } from "../../packages/kernel/src/isolate/bounded-call.ts";
import type { CallPort, IsolateCall } from "../../packages/kernel/src/isolate/port.ts";

declare const call: CallRecord;
declare const entry: Entry;
declare const granted: Granted;
declare const decided: Decided;
declare const reserved: Reserved;
declare const started: Started;
declare const normalized: Normalized;
declare const isolate: OwnIsolate;
declare const isolateCall: IsolateCall;
declare const port: CallPort;
declare const ports: ReservePorts & RunPorts & ConcludePorts;

const { tool, host } = decided;
// @ts-expect-error a literal has no private name
export const literal: Resolved = { call, tool, host };
// @ts-expect-error a spread leaves the private name behind
export const spread: Decided = { ...decided, verdict: { ...decided.verdict, decision: "allow" } };
// @ts-expect-error a decided call is not an allowed call: the decision may be a denial
export const allowed: Allowed = decided;
// @ts-expect-error a step that is left out: grants are no decision
void reserve(granted, entry, ports);
// @ts-expect-error a call that holds its slot has no start on record
void run(reserved, ports);
// @ts-expect-error a run gives no output in its normal form
void conclude(started, undefined, ports);
void conclude(normalized, undefined, ports);

// @ts-expect-error the class of an ending is not exported: nothing can construct it, and no literal is one
export const ending: Ending = {
  callId: "",
  hasStarted: true,
  effects: [],
  outcome: { ok: true, output: { form: "json", content: "1", hash: "blake3:0", outputBytes: 1 } },
};

export const forging: Extension = {
  name: "forging",
  // @ts-expect-error an extension answers with an ending of the kernel
  afterDecision: () => ({ by: "cache", ending: { callId: "", hasStarted: true, effects: [] } }),
  // @ts-expect-error and cannot answer with a state
  afterAllow: (state) => state,
};

// @ts-expect-error the bounds of a manifest alone: the policy had no say
effectiveBounds(tool.manifest.bounds);
// @ts-expect-error a literal is no effective bounds
export const bounds: EffectiveBounds = { ...started.bounds, fuel: 1 };
// @ts-expect-error an isolate of the kernel takes a bounded call alone
void isolate.call(isolateCall, port);
void isolate.call(boundedCall(isolateCall, started.bounds), port);
