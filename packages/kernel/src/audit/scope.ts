import { flatten, quote } from "../json/flat-text.ts";
import type { Listener } from "../support/foreign.ts";
import type { AuditEvent, AuditType } from "./event.ts";
import { LINE_BYTES } from "./lines.ts";

/** The call of an event, and the parts of its canonical text that all events of the call share. */
export interface EventScope {
  readonly callId: string | null;
  readonly sessionId: string | null;
  readonly traceparent: string | null;
  readonly onEvent: Listener<[AuditEvent]> | undefined;
  readonly head: string;
  readonly middle: string;
  readonly tail: string;
}

/** The names are well-formed text; all `null` for events of the kernel itself. */
export function eventScope(
  callId: string | null,
  sessionId: string | null,
  traceparent: string | null,
  onEvent?: Listener<[AuditEvent]>,
): EventScope {
  return {
    callId,
    sessionId,
    traceparent,
    onEvent,
    head: flatten(`{"callId":${quote(callId)},"id":"`),
    middle: flatten(`,"sessionId":${quote(sessionId)}`),
    tail: flatten(`","traceparent":${quote(traceparent)},"type":"`),
  };
}

export const kernelScope: EventScope = eventScope(null, null, null);

/** The fields that differ in each event. */
export interface EventFields {
  readonly type: AuditType;
  readonly seq: number;
  readonly id: string;
  readonly time: string;
  /** Canonical JSON. */
  readonly payload: string;
  /** Canonical JSON of a list; empty where the event changes no state. */
  readonly state: string;
  readonly prev: string;
}

/** Of an event without its hash: the line around it has the digest too. */
const BODY_BYTES = LINE_BYTES - 256;

/**
 * The canonical text of an event without its hash. The members of an event never change, so their order stands here once.
 *
 * @throws RangeError for an event that no reader of a log takes
 */
export function bodyOf(
  { head, middle, tail }: EventScope,
  { type, seq, id, time, payload, state, prev }: EventFields,
): string {
  const body =
    head +
    id +
    '","payload":' +
    payload +
    ',"prev":"' +
    prev +
    '","seq":' +
    seq +
    middle +
    (state === "" ? ',"time":"' : `,"state":${state},"time":"`) +
    time +
    tail +
    type +
    '","v":1}';
  // An event that no reader takes would make the whole log look forged.
  if (body.length * 3 > BODY_BYTES && new TextEncoder().encode(body).length > BODY_BYTES)
    throw new RangeError(`The event ${type} has more than ${BODY_BYTES} bytes, the most of an event.`);
  return body;
}
