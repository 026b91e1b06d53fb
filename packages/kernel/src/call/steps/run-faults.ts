import * as limits from "../../limits.ts";
import { present } from "../../support/guards.ts";
import type { LastRefusal } from "../../capability/gate/call-usage.ts";
import type { Gate } from "../../capability/gate/gate.ts";
import type { BodyFault } from "../../isolate/body.ts";
import type { RunEnd } from "../../isolate/run.ts";
import type { ErrorCode } from "../../result.ts";
import { explanation } from "../faults/explanation.ts";
import { CallFault, refusalFault } from "../faults/fault.ts";
import { raiseBound } from "../faults/hints.ts";
import type { Started } from "./start.ts";

/** Also of a result that another call got. */
export function tooLarge(toolId: string, limit: number): CallFault {
  return new CallFault("BOUNDS_EXCEEDED", `${toolId} returned more than ${limit} bytes.`, {
    details: { bound: "outputBytes", limit },
    operatorHint: raiseBound("outputBytes"),
  });
}

export function notNormalizable(toolId: string, reason: string, path: string): CallFault {
  const place = path === "" ? "" : ` at ${path.slice(0, 200)}`;
  const what =
    reason === "syntax"
      ? "text that is not JSON"
      : reason === "detached"
        ? "bytes whose buffer is gone"
        : reason === "too-large"
          ? `more than ${limits.nodes} values, or more than ${limits.members} members in all objects`
          : `something that is not plain data: ${reason}`;
  return new CallFault("NOT_NORMALIZABLE", `${toolId} returned ${what}${place}.`, {
    details: { reason, path: explanation(path) },
  });
}

/** Why a run gave no output. */
export function runFault(
  { tool, gate, bounds, body }: Started,
  end: Exclude<RunEnd, { kind: "returned" | "suspended" }>,
): CallFault {
  switch (end.kind) {
    case "refused":
      return new CallFault("INVALID_INPUT", `${tool.id} refused the input: ${end.message}`);
    case "threw": {
      const refusal = refusalBehind(end, gate);
      if (refusal) return refusalFault(refusal);
      return new CallFault("TOOL_ERROR", end.message || `${tool.id} threw without a message.`, {
        details: { name: end.name },
        retryable: end.retryable === true,
        operatorHint:
          end.name === "ReferenceError" ? "A tool has no globals of its host; `execute` gets a context instead." : "",
      });
    }
    case "unnormalizable":
      return notNormalizable(tool.id, end.reason, end.path);
    case "too-large":
      return tooMuch[end.what](tool.id, end.limit);
    case "out-of-memory":
      return usedUp("OUT_OF_MEMORY", tool.id, "memoryBytes", end.limit ?? bounds.memoryBytes);
    case "out-of-fuel":
      return usedUp("OUT_OF_FUEL", tool.id, "fuel", end.limit ?? bounds.fuel);
    case "lost":
      return new CallFault("ISOLATE_LOST", `The isolate of ${tool.id} was lost: ${end.reason}.`, {
        retryable: true,
      });
    case "timed-out":
      return new CallFault("TIMEOUT", timeoutText(tool.id, bounds.timeoutMs, end.opening === true), {
        details: { timeoutMs: bounds.timeoutMs, ...(end.opening === true && { opened: false }) },
        // Where no isolate was ready, nothing ran.
        retryable: end.opening === true || tool.manifest.idempotent === true,
      });
    case "cancelled":
      return new CallFault("CANCELLED", "The caller cancelled the call.");
    case "bad-body":
      return badBody(present(body?.fault), bounds.bodyBytes);
    case "not-opened":
      return new CallFault(end.failure.code, end.failure.message, {
        ...end.failure.hints,
        retryable: end.failure.code === "ISOLATE_LOST",
      });
  }
}

/** The refusal of a request that ended a run. A tool may claim any code; it is believed only of a refusal that it was really given. */
export function refusalBehind(end: RunEnd, { counts }: Pick<Gate, "counts">): LastRefusal | undefined {
  const { lastRefusal } = counts;
  return end.kind === "threw" && lastRefusal?.code === end.code ? lastRefusal : undefined;
}

function timeoutText(tool: string, timeoutMs: number, opening: boolean): string {
  return opening
    ? `${tool} did not start within ${timeoutMs} ms: no isolate was ready for it.`
    : `${tool} did not finish within ${timeoutMs} ms and was stopped.`;
}

/** The fault of the caller's stream, also if the tool handled it. */
function badBody({ reason, message = "" }: BodyFault, limit: number): CallFault {
  switch (reason) {
    case "too-large":
      return new CallFault("BOUNDS_EXCEEDED", `The body has more than ${limit} bytes.`, {
        details: { bound: "bodyBytes", limit },
        hint: "Send less.",
        operatorHint: raiseBound("bodyBytes"),
      });
    case "not-bytes":
      return new CallFault("INVALID_INPUT", "The body's stream contains a chunk that is not a non-empty Uint8Array.");
    case "failed":
      return new CallFault("CANCELLED", `The caller's body failed: ${explanation(message)}`);
  }
}

function usedUp(code: ErrorCode, toolId: string, bound: "fuel" | "memoryBytes", limit: number | undefined): CallFault {
  const amount = limit === undefined ? "" : ` of ${limit}`;
  return new CallFault(code, `${toolId} used up its ${bound}${amount}.`, {
    ...(limit !== undefined && { details: { bound, limit } }),
    operatorHint: raiseBound(bound),
  });
}

const tooMuch = {
  output: tooLarge,
  messages: (toolId, limit) =>
    new CallFault("BOUNDS_EXCEEDED", `${toolId} sent more than ${limit} messages.`, {
      details: { bound: "messages", limit },
    }),
  stack: (toolId, limit) =>
    new CallFault("BOUNDS_EXCEEDED", `The calls of ${toolId} nest too deeply: its stack has ${limit} bytes.`, {
      details: { bound: "stack", limit },
      hint: "Send an input that nests less deeply, or use another tool.",
      operatorHint: "Correct the tool: a recursion has no end, or goes too deep.",
    }),
} satisfies Record<Extract<RunEnd, { kind: "too-large" }>["what"], (toolId: string, limit: number) => CallFault>;
