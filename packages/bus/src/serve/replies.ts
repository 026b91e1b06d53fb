import { type CallResult, isJsonObject, type JsonValue, modelError } from "@keyhole/kernel";
import type { OutgoingMessage } from "../port.ts";
import { writeBody } from "../wire/body.ts";
import { headers, type Kind } from "../wire/headers.ts";
import { type BusFailure, type Ran, refusal } from "../wire/refusal.ts";

const encoder = new TextEncoder();

/** A message to the caller of one exchange. */
export function replyOf(
  kind: Kind,
  correlation: string,
  body?: JsonValue,
  more: readonly (readonly [string, string])[] = [],
): OutgoingMessage {
  const own: readonly (readonly [string, string])[] = [
    [headers.kind, kind],
    [headers.correlation, correlation],
  ];
  return { headers: new Map([...own, ...more]), body: writeBody(body) };
}

export function failureReply(correlation: string, failure: BusFailure, callId?: string): OutgoingMessage {
  return replyOf("result", correlation, failure, [
    [headers.outcome, "error"],
    ...(callId === undefined ? [] : [[headers.call, callId] as const]),
  ]);
}

/** Of one result, in all its messages. */
const RESULT_BYTES = 16_777_216;

/** The result of a call, as messages of at most `bodyBytes`: the parts of a large result, and last the result. */
export function resultReplies(correlation: string, result: CallResult, bodyBytes: number): readonly OutgoingMessage[] {
  if (!result.ok) return [failureReply(correlation, failureOf(result), result.callId)];
  const { data, callId } = result;
  const [form, body] = formOf(data);
  if (body.length > RESULT_BYTES) return [failureReply(correlation, refusal("RESULT_TOO_LARGE"), callId)];
  const count = Math.max(0, Math.ceil(body.length / bodyBytes) - 1);
  const parts = Array.from({ length: count }, (_, at) => {
    const { headers: own } = replyOf("part", correlation, undefined, [[headers.sequence, String(at + 1)]]);
    return { headers: own, body: body.subarray(at * bodyBytes, (at + 1) * bodyBytes) };
  });
  const { headers: own } = replyOf("result", correlation, undefined, [
    [headers.outcome, "ok"],
    [headers.form, form],
    [headers.call, callId],
    ...(count === 0 ? [] : [[headers.parts, String(count)] as const]),
  ]);
  return [...parts, { headers: own, body: body.subarray(count * bodyBytes) }];
}

function formOf(data: JsonValue | Uint8Array): readonly ["json" | "text" | "binary", Uint8Array] {
  if (data instanceof Uint8Array) return ["binary", data];
  return typeof data === "string" ? ["text", encoder.encode(data)] : ["json", writeBody(data)];
}

function failureOf({ error, meta }: Extract<CallResult, { ok: false }>): BusFailure {
  const { code, message, hint } = modelError(error);
  const details: readonly JsonValue[] = Array.isArray(error.details) ? (error.details as JsonValue[]) : [];
  const isUnknown = details.some((each) => isJsonObject(each) && each["reason"] === "outcome-unknown");
  const ran: Ran = isUnknown || meta.attempts > 0 || meta.cached ? "maybe" : "no";
  return { code, message, hint, ran };
}
