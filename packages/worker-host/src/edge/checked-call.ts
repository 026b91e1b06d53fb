import type { Approver, AuditEvent, CallOptions, CallResult, ToolSummary } from "@keyhole/kernel";
import type { CalledTool } from "../called-tool.ts";
import { aheadBytes, callOver, type EdgeEnd } from "./call.ts";
import { EdgeFault } from "./fault.ts";
import type { Edge } from "./http.ts";
import type { Summaries } from "./summaries.ts";
import { requestOf } from "./options.ts";
import { checkBytes, EdgeOutput } from "./output.ts";
import { verifyAnswer } from "./verify-answer.ts";
import { withDefaults } from "./with-defaults.ts";

/** `setTimeout` fires at once for a longer time. */
const longestTimeoutMs = 2 ** 31 - 1;
const defaultCallMs = 3_600_000;

interface Around {
  readonly edge: Edge;
  readonly approvals: Edge;
  readonly summaries: Summaries;
  /** Aborts when the client is closed. */
  readonly closed: AbortSignal;
  readonly options: { readonly approver?: Approver; readonly callMs?: number };
}

interface Asked {
  readonly tool: CalledTool;
  readonly input: unknown;
  readonly given: CallOptions;
}

/**
 * A call whose answer fits its tool, its input, its proof and its events.
 *
 * @throws {EdgeFault} `EDGE_UNTRUE` where it does not
 */
export async function callTrusting(around: Around, { tool, input, given }: Asked): Promise<CallResult> {
  const { edge, approvals, summaries, closed, options } = around;
  const { version = given.version } = tool;
  const request = requestOf(input, given, version);
  const listed = await summaries.of(tool.name, false);
  const body = given.body && (await wholeBody(given.body));
  const output = given.output && outputOf(given.output, listed, version);
  if (output && (body?.size ?? 0) > aheadBytes) throw tooFarAhead();
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), Math.min(options.callMs ?? defaultCallMs, longestTimeoutMs));
  const signal = AbortSignal.any([closed, late.signal, ...(given.signal ? [given.signal] : [])]);
  let result: CallResult | undefined;
  try {
    const call = {
      tool: tool.name,
      request: { ...request.body, ...(output && { output: true }) },
      headers: request.headers,
      body,
      signal,
      onOutput: output && ((bytes: Uint8Array) => output.take(bytes)),
      onEvent: quiet(given.onEvent),
      onLog: quiet(given.onLog),
      onProgress: quiet(given.onProgress),
    };
    const end = await callOver(edge, { ...call, ...approverOf(given, options.approver) }, approvals);
    result = end.result;
    if (!end.isFromLog) {
      output?.end(result);
      await refuseUntrue(end, { tool, given, summaries, listed, hasStream: output !== undefined });
    }
    return result;
  } catch (error) {
    result = undefined;
    throw error;
  } finally {
    clearTimeout(timer);
    await output?.settle(result);
  }
}

interface Expected {
  readonly tool: CalledTool;
  readonly given: CallOptions;
  readonly summaries: Around["summaries"];
  readonly listed: readonly ToolSummary[];
  readonly hasStream: boolean;
}

/**
 * The edge may have registered the tool again since its list: a mismatch is compared with a new
 * list once.
 */
async function refuseUntrue(end: EdgeEnd, expected: Expected): Promise<void> {
  const fault = untruthOf(end, expected);
  if (fault === undefined) return;
  const listed = await expected.summaries.of(expected.tool.name, true);
  const still = untruthOf(end, { ...expected, listed });
  if (still === undefined) return;
  throw new EdgeFault(
    "EDGE_UNTRUE",
    `The edge's answer contradicts itself. ${still}`,
    "The client passes on no part of the answer.",
  );
}

/** @returns why the answer cannot be what it says it is */
function untruthOf(
  { result, events, inputs }: EdgeEnd,
  { tool, given, listed, hasStream }: Expected,
): string | undefined {
  const summary = listed.find(({ id }) => id === result.tool);
  if (summary === undefined) return result.ok ? "It lists no such tool." : undefined;
  if (summary.manifest.name !== tool.name) return "The answer is of another tool.";
  const { reference } = result.ok ? result : {};
  if (reference !== undefined && given.references !== true) return "It has a reference in place of the output.";
  try {
    checkBytes(result, summary);
  } catch {
    return "The hash is not that of the bytes.";
  }
  const whole = inputs.map((input) => withDefaults(summary.manifest.input, input));
  const isOld = result.meta.cached && given.idempotencyKey !== undefined;
  const { checks } = verifyAnswer({ tool: summary, inputs: whole, events, result, hasStream: hasStream && !isOld });
  const failed = checks.filter(({ outcome }) => outcome === "failed");
  return failed.length === 0 ? undefined : failed.map(({ reason }) => reason).join(" ");
}

function outputOf(
  output: WritableStream<Uint8Array>,
  listed: readonly ToolSummary[],
  version: string | undefined,
): EdgeOutput | undefined {
  const summary = listed.find(({ manifest }) => manifest.version === version) ?? listed[0];
  return summary && new EdgeOutput(output, summary);
}

/** Not every platform sends a body while it reads it. */
async function wholeBody(body: ReadableStream<Uint8Array>): Promise<Blob> {
  return new Response(body as ReadableStream<Uint8Array<ArrayBuffer>>).blob();
}

function tooFarAhead(): EdgeFault {
  const message = `A call with output takes a body of at most ${aheadBytes.toLocaleString("en")} bytes over HTTP.`;
  return new EdgeFault("EDGE_UNSUPPORTED", message, "Make the call without output, or send less.");
}

/** Questions of the call itself, and of the calls that it makes: its first event says which is which. */
function approverOf(given: CallOptions, fallback: Approver | undefined) {
  const { approver = fallback, nestedApprover = fallback } = given;
  let own: string | undefined;
  const heard = quiet(given.onEvent);
  return {
    onEvent: (event: AuditEvent): void => {
      own ??= event.callId ?? undefined;
      heard(event);
    },
    approve:
      approver || nestedApprover
        ? async (...[asked, until]: Parameters<Approver>): ReturnType<Approver> => {
            const answers = asked.callId === own ? approver : nestedApprover;
            return answers ? answers(asked, until) : { answer: "deny", approver: "", reason: "Nobody answers." };
          }
        : undefined,
  };
}

/** A listener that throws is the caller's own. */
function quiet<Heard>(listener: ((heard: Heard) => void) | undefined): (heard: Heard) => void {
  return (heard) => {
    try {
      listener?.(heard);
    } catch {
      // Nothing of the call depends on it.
    }
  };
}
