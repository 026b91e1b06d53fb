import type { AuditEvent } from "@keyhole/kernel";

/**
 * An event of the log as a CloudEvent (CloudEvents 1.0.2, JSON format, structured mode), with the extensions `sequence` and distributed tracing.
 */
export interface CloudEvent {
  readonly specversion: "1.0";
  /** That of the event: unique for a source. */
  readonly id: string;
  /** Which log: a URI reference. */
  readonly source: string;
  /** `dev.keyhole.` and the type of the event. */
  readonly type: string;
  readonly time: string;
  /** The call; absent for events that belong to none. */
  readonly subject?: string;
  readonly datacontenttype: "application/json";
  /** URN of the published schema. */
  readonly dataschema: "urn:keyhole:audit-event:1";
  /** `seq`, with leading zeros, so that texts sort as numbers do. */
  readonly sequence: string;
  readonly traceparent?: string;
  /** The event itself, whole: its digest is verifiable. */
  readonly data: AuditEvent;
}

const prefix = "dev.keyhole.";

/**
 * @param source Which log: a URI reference that its owner gives it, such as `https://example.com/kernels/shop`.
 * @throws TypeError for a source that is empty: a bug in the caller.
 * @example
 * kernel.audit.subscribe((event) => queue.send(toCloudEvent(event, "https://example.com/kernels/shop")));
 */
export function toCloudEvent(event: AuditEvent, source: string): CloudEvent {
  if (source === "") throw new TypeError("a CloudEvent has a source");
  const { id, type, time, callId, seq, traceparent } = event;
  return {
    specversion: "1.0",
    id,
    source,
    type: `${prefix}${type}`,
    time,
    ...(callId !== null && { subject: callId }),
    datacontenttype: "application/json",
    dataschema: "urn:keyhole:audit-event:1",
    sequence: String(seq).padStart(16, "0"),
    ...(traceparent !== null && { traceparent }),
    data: event,
  };
}

/** The event in a foreign CloudEvent, for `verifyAudit`; `undefined` where it is none of ours, or its envelope says something else than the event does. */
export function fromCloudEvent(foreign: unknown): unknown {
  if (typeof foreign !== "object" || foreign === null) return undefined;
  const { specversion, id, type, time, subject, sequence, traceparent, data } = foreign as Partial<
    Record<keyof CloudEvent, unknown>
  >;
  if (specversion !== "1.0" || typeof data !== "object" || data === null) return undefined;
  const event = data as Partial<Record<keyof AuditEvent, unknown>>;
  const fits =
    event.id === id &&
    `${prefix}${String(event.type)}` === type &&
    event.time === time &&
    event.callId === (subject ?? null) &&
    event.traceparent === (traceparent ?? null) &&
    String(event.seq).padStart(16, "0") === sequence;
  return fits ? event : undefined;
}
