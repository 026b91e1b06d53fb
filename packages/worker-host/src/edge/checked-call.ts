import {
  type Approver,
  askInTurn,
  type AuditEvent,
  type CallOptions,
  type CallResult,
  type JsonValue,
  limits,
  type ToolSummary,
} from "@keyhole/kernel";
import type { CalledTool } from "../called-tool.ts";
import { aheadBytes, callOver, type EdgeEnd, untrue } from "./call.ts";
import { type Answer, type Asked, type Evidence, evidenceOf } from "./evidence.ts";
import { EdgeFault, unknownEnd } from "./fault.ts";
import type { Edge } from "./http.ts";
import type { Summaries } from "./summaries.ts";
import { vouchedResult } from "./members.ts";
import { requestOf } from "./options.ts";
import { EdgeOutput } from "./output.ts";
import { verifyRead } from "./verify-answer.ts";
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

interface Asking {
  readonly tool: CalledTool;
  /** Whether a listed tool is the package that names the tool. */
  readonly isPackage: Asked["isPackage"];
  readonly input: unknown;
  readonly given: CallOptions;
}

/**
 * A call whose answer fits its tool, its input, its proof and its events.
 *
 * @throws {EdgeFault} `EDGE_UNTRUE` where it does not
 */
export async function callTrusting(around: Around, asking: Asking): Promise<CallResult> {
  const { tool, input, given } = asking;
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
    if (!end.isFromLog) output?.end(end.result);
    const isOld = end.result.meta.cached && given.idempotencyKey !== undefined;
    const hasStream = output !== undefined && !isOld;
    result = await refuseUntrue(end, { asked: askedOf(asking), summaries, listed, hasStream });
    return result;
  } catch (error) {
    result = undefined;
    throw error;
  } finally {
    clearTimeout(timer);
    await output?.settle(result);
  }
}

function askedOf({ tool: { name, version }, isPackage, given }: Asking): Asked {
  const { raw, references, sessionId, correlationId, traceparent } = given;
  return {
    name: name.slice(0, limits.nameLength).toWellFormed(),
    version: version ?? given.version,
    ...(isPackage && { isPackage }),
    raw,
    references,
    sessionId,
    correlationId,
    traceparent,
  };
}

interface Expected {
  readonly asked: Asked;
  readonly summaries: Around["summaries"];
  readonly listed: readonly ToolSummary[];
  readonly hasStream: boolean;
}

/** The log has no end of a call with these: the call continues elsewhere, or the log itself failed. */
const endless: ReadonlySet<string> = new Set(["SUSPENDED", "AUDIT_UNAVAILABLE"]);

/**
 * The edge may have registered the tool again since its list: a mismatch is compared with a new
 * list once.
 */
async function refuseUntrue(end: EdgeEnd, expected: Expected): Promise<CallResult> {
  const evidence = evidenceOf(expectedIn(end, expected));
  if (!end.result.ok && endless.has(end.result.error.code) && evidence.end === undefined)
    throw unknownEnd(`The call ended with ${end.result.error.code}, which its events cannot show.`);
  if (untruthOf(evidence) === undefined) return vouchedResult(evidence);
  const { name = "" } = expected.asked;
  const again = evidenceOf(expectedIn(end, { ...expected, listed: await expected.summaries.of(name, true) }));
  const still = untruthOf(again);
  if (still === undefined) return vouchedResult(again);
  throw untrue(still);
}

function expectedIn({ result, events, inputs, isFromLog }: EdgeEnd, { asked, listed, hasStream }: Expected): Answer {
  const tool = listed.find(({ id }) => id === result.tool);
  const sent = inputs.map((input) => JSON.parse(JSON.stringify(input) ?? "null") as JsonValue);
  const whole = sent.map((input) => (tool ? withDefaults(tool.manifest.input, input) : input));
  return { tool, asked, inputs: whole, result, events, hasStream, isFromLog };
}

/** @returns why the answer cannot be what it says it is */
function untruthOf(evidence: Evidence): string | undefined {
  if (evidence.events.length === 0) return "It has no events.";
  const failed = verifyRead(() => evidence).checks.filter(({ outcome }) => outcome === "failed");
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
            if (answers) return askInTurn(answers, asked, until);
            return { answer: "deny", approver: "", reason: "Nobody answers." };
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
