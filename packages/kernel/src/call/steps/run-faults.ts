import type { LastRefusal } from "../../capability/gate/call-usage.ts";
import type { Gate } from "../../capability/gate/gate.ts";
import type { BodyFault } from "../../isolate/body.ts";
import type { RunEnd } from "../../isolate/run.ts";
import type { ErrorCode } from "../../result.ts";
import { present } from "../../support/guards.ts";
import type { FaultText } from "../faults/fault-text.ts";
import { CallFault, refusalFault } from "../faults/fault.ts";
import * as texts from "../faults/texts.ts";
import type { Started } from "./start.ts";

/**
 * Why the output of a run is refused. The error shows the start of its value, unless a result would not: the value has yet to pass its normalizer, or the operator stopped
 * the call.
 */
export function outputFault(
  { tool, brake }: Pick<Started, "tool"> & Partial<Pick<Started, "brake">>,
  code: ErrorCode,
  value: unknown,
  text: FaultText,
): CallFault {
  const unchecked = tool.normalizer || brake?.why ? undefined : value;
  return new CallFault(code, texts.refusedOutput(text, tool, unchecked));
}

/** Also of a result that another call got. */
export function tooLarge(state: Parameters<typeof outputFault>[0], value: unknown, limit: number): CallFault {
  return outputFault(state, "BOUNDS_EXCEEDED", value, texts.tooMuch.output(state.tool.id, limit));
}

export function notNormalizable(
  started: Started,
  value: unknown,
  { reason, path }: { readonly reason: string; readonly path: string },
): CallFault {
  return outputFault(started, "NOT_NORMALIZABLE", value, texts.notNormalizable(started.tool.id, reason, path));
}

/** Why a run gave no output. */
export function runFault(started: Started, end: Exclude<RunEnd, { kind: "returned" | "suspended" }>): CallFault {
  const { tool, gate, bounds, body } = started;
  const { id, manifest } = tool;
  const refusal = refusalBehind(end, gate);
  if (refusal) return refusalFault(refusal);
  switch (end.kind) {
    case "refused":
      return new CallFault("INVALID_INPUT", texts.refusedInput(id, end.message));
    case "threw":
      return new CallFault("TOOL_ERROR", texts.threw(id, end), { retryable: end.retryable === true });
    case "unnormalizable":
      return notNormalizable(started, end.unchecked, end);
    case "too-large":
      return end.what === "output"
        ? tooLarge(started, end.unchecked, end.limit)
        : new CallFault("BOUNDS_EXCEEDED", texts.tooMuch[end.what](id, end.limit));
    case "out-of-memory": {
      const limit = end.limit ?? bounds.memoryBytes;
      return new CallFault("OUT_OF_MEMORY", texts.usedUp(id, "memoryBytes", limit));
    }
    case "out-of-fuel": {
      const limit = end.limit ?? bounds.fuel;
      return new CallFault("OUT_OF_FUEL", texts.usedUp(id, "fuel", limit));
    }
    case "lost":
      return new CallFault("ISOLATE_LOST", texts.lostIsolate(id, end.reason), { retryable: true });
    case "timed-out": {
      const { waitedMs = 0, ranMs = 1 } = end;
      const { timeoutMs } = bounds;
      const opening = ranMs === 0;
      return new CallFault("TIMEOUT", texts.timedOut(id, timeoutMs, opening), {
        details: { timeoutMs, ...(waitedMs > ranMs && { waitedMs }) },
        // Where no isolate was ready, nothing ran.
        retryable: opening || manifest.idempotent === true,
      });
    }
    case "forbidden":
      return new CallFault("CAPABILITY_DENIED", texts.stopped(id, end.why), {
        details: { reason: "revoked" },
      });
    case "use-refused":
      return refusalFault(end.refusal);
    case "cancelled":
      return new CallFault("CANCELLED", texts.cancelled.running);
    case "bad-body": {
      const fault = present(body?.fault);
      return new CallFault(codeOfBody[fault.reason], texts.badBody(fault, bounds.bodyBytes));
    }
    case "not-opened":
      return new CallFault(end.failure.code, end.failure.message, {
        ...end.failure.hints,
        retryable: end.failure.code === "ISOLATE_LOST",
      });
  }
}

const codeOfBody: Readonly<Record<BodyFault["reason"], ErrorCode>> = {
  "too-large": "BOUNDS_EXCEEDED",
  "not-bytes": "INVALID_INPUT",
  failed: "CANCELLED",
};

/** The refusal of a request that ended a run. A tool may claim any code; it is believed only of a refusal that it was really given. */
export function refusalBehind(end: RunEnd, { counts }: Pick<Gate, "counts">): LastRefusal | undefined {
  const { lastRefusal } = counts;
  const hasThrown = end.kind === "threw" || end.kind === "forbidden";
  return hasThrown && lastRefusal?.code === end.code ? lastRefusal : undefined;
}
