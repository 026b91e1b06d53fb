import type { Gate } from "../capability/gate.ts";
import type { Clock } from "../isolate/clock.ts";
import type { Proof } from "../policy/proof.ts";
import type { CallFailure, CallMeta, CallSuccess } from "../result.ts";
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

/** Step 12 of every other. */
export function failed(
  call: Call,
  why: Stop,
  tool: string,
  proof: Proof | undefined,
  gate: Gate | undefined,
  clock: Clock,
): CallFailure {
  const { code, message, details, retryable, hint } = why;
  return {
    ok: false,
    error: { code, message, details, retryable, hint },
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
