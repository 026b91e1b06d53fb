import type { Gate } from "../capability/gate.ts";
import type { Clock } from "../isolate/clock.ts";
import type { Proof } from "../policy/proof.ts";
import type { CallError, CallFailure, CallMeta, CallSuccess } from "../result.ts";
import type { Call, Stop } from "./call.ts";
import type { Concluded } from "./conclude.ts";

/** Step 12 of a call that gave a result. */
export function succeeded({ call, tool, proof, gate, output, hash }: Concluded, clock: Clock): CallSuccess {
  return {
    ok: true,
    data: output,
    hash,
    tool: tool.id,
    callId: call.callId,
    proof,
    effects: gate.effects,
    meta: metaOf(call, gate, clock),
  };
}

/** What the caller of a call without result is told. */
export function errorOf({ code, message, details, retryable, hint }: Stop): CallError {
  return { code, message, details, retryable, hint };
}

/** Step 12 of every other. */
export function failed(
  call: Call,
  why: Stop,
  tool: string,
  proof: Proof | undefined,
  gate: Gate | undefined,
  clock: Clock,
): CallFailure {
  return {
    ok: false,
    error: errorOf(why),
    tool,
    callId: call.callId,
    ...(proof && { proof }),
    effects: gate?.effects ?? [],
    meta: metaOf(call, gate, clock),
  };
}

function metaOf({ arrivedMs, queuedMs, warnings, traceparent }: Call, gate: Gate | undefined, clock: Clock): CallMeta {
  const { networkRequests, networkBytes } = gate?.usage ?? { networkRequests: 0, networkBytes: 0 };
  return {
    durationMs: clock.monotonicMs() - arrivedMs,
    queuedMs,
    cached: false,
    attempts: gate ? 1 : 0,
    networkRequests,
    networkBytes,
    warnings,
    traceparent,
  };
}
