import { plainMembers } from "../json/plain-members.ts";
import { readVersionedId } from "../support/tool-names.ts";
import type { CallOptions, Kernel } from "../kernel-api.ts";
import type { JsonObject, JsonValue } from "../json/json.ts";
import { parseJson } from "../json/snapshot.ts";
import type { CallResult } from "../result.ts";
import type { Run, RunEntry } from "./run.ts";

type CallEntry = Extract<RunEntry, { kind: "call" }>;

/** One run of a tool, as a run file tells it. */
export interface InspectedCall {
  readonly callId: string;
  readonly sessionId: string;
  /** From 1; more where the call was tried again. */
  readonly attempt: number;
  /** `name@version`. */
  readonly tool: string;
  readonly toolHash: string;
  readonly input: JsonValue;
  /** RFC 3339, UTC: when the call was made, as its id says. The tool's own clock can stand elsewhere: that of a pure one at 1970. */
  readonly startedAt: string;
  /** Its requests, in order; `reply` is `null` for a request that it did not wait for. */
  readonly requests: readonly { readonly request: JsonObject; readonly reply: JsonObject | null }[];
  /** `undefined` where the run has no end of it. */
  readonly outcome: { readonly kind: string; readonly result: JsonObject } | undefined;
}

/**
 * Reads a run: the input, requests, answers and outcome of each call. It executes nothing and
 * checks nothing: read an untrusted run with `readRun`.
 *
 * @example
 * for (const { tool, input, requests, outcome } of inspect(run)) console.log(tool, input, requests.length, outcome?.kind);
 */
export function inspect({ entries }: Run): readonly InspectedCall[] {
  interface Open extends InspectedCall {
    readonly requests: { readonly request: JsonObject; reply: JsonObject | null }[];
    outcome: InspectedCall["outcome"];
  }
  const calls: Open[] = [];
  const open = new Map<string, Open>();
  for (const entry of entries) {
    const { callId } = entry;
    switch (entry.kind) {
      case "call": {
        const { sessionId, attempt = 1, tool, toolHash, nowMs } = entry;
        const call: Open = {
          callId,
          sessionId,
          attempt,
          tool,
          toolHash,
          input: inputOf(entry),
          startedAt: startOf(callId, nowMs),
          requests: [],
          outcome: undefined,
        };
        calls.push(call);
        open.set(callId, call);
        break;
      }
      case "request":
        open.get(callId)?.requests.push({ request: entry.request, reply: null });
        break;
      case "reply": {
        const asked = open.get(callId)?.requests[entry.index];
        if (asked) asked.reply = entry.reply;
        break;
      }
      case "outcome": {
        const ended = open.get(callId);
        if (ended) ended.outcome = { kind: entry.outcome, result: entry.result };
        open.delete(callId);
      }
    }
  }
  return calls;
}

/**
 * Runs a recorded call afresh: the same input, today's world, policy and tools. The new call carries the old one's id as its `correlationId`, so that the log leads
 * from one to the other. The version is that of the run, unless the options name one.
 *
 * @example
 * const [call] = inspect(run);
 * const result = await rerun(kernel, call);
 */
export function rerun(
  kernel: Pick<Kernel, "call">,
  { callId, tool, input }: Pick<InspectedCall, "callId" | "tool" | "input">,
  options: Omit<CallOptions, "correlationId"> = {},
): Promise<CallResult> {
  const { name, version } = readVersionedId(tool);
  // A copy leaves out what a class carries: the kernel refuses the object itself.
  const given = plainMembers(options);
  return kernel.call(name, input, given ? { version, ...given, correlationId: callId } : options);
}

/** The time in a UUIDv7 (RFC 9562, section 5.7); the tool's clock where the id is another one. */
function startOf(callId: string, nowMs: number): string {
  const [, high, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(callId) ?? [];
  return new Date(high === undefined ? nowMs : Number.parseInt(`${high}${low}`, 16)).toISOString();
}

function inputOf({ inputText }: CallEntry): JsonValue {
  const parsed = parseJson(inputText);
  return parsed.ok ? parsed.value : inputText;
}
