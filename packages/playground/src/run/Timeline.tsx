import { type AuditEvent, type AuditType, visible } from "@keyhole/kernel";
import { type ReactNode, useState } from "react";
import { offsetText } from "../app/words.ts";
import type { Tone } from "../ui/Badge.tsx";
import { Fact, HashFact } from "../ui/Fact.tsx";
import { Json } from "../ui/Json.tsx";
import { isKnown } from "@keyhole/worker-host/edge-protocol";
import { sentenceOf } from "./event-text.ts";

interface TimelineProps {
  readonly events: readonly AuditEvent[];
  readonly isRunning: boolean;
}

/** The call's part of the audit log, in its order, as it is written. */
export function Timeline({ events, isRunning }: TimelineProps): ReactNode {
  const first = events[0];
  if (first === undefined)
    return <p className="hint">{isRunning ? "Waiting for the first event…" : "The call left no event."}</p>;
  const start = Date.parse(first.time);
  const isAsking = events.at(-1)?.type === "approval.requested";
  const depths = depthsOf(events);
  return (
    <ol className="timeline" aria-label="Events of the call">
      {events.slice(0, shownEvents).map((event) => (
        <TimelineItem
          key={event.id}
          event={event}
          afterMs={Date.parse(event.time) - start}
          depth={depths.get(event.callId ?? "") ?? 0}
        />
      ))}
      {events.length > shownEvents && (
        <li className="timeline-item" data-tone="neutral">
          The first {shownEvents} of {events.length.toLocaleString("en")} events. The screen Timeline shows all of them.
        </li>
      )}
      {isRunning && (
        <li className="timeline-item" data-tone="neutral">
          <span className="spinner" aria-hidden="true" />
          <span className="muted">{isAsking ? "Waiting for approval…" : "Running…"}</span>
        </li>
      )}
    </ol>
  );
}

/** The page draws each, also out of sight. */
const shownEvents = 500;
/** Deeper calls stand at this depth: a line needs some width. */
const maxDepth = 8;

/** How deep each call is within the one that the page made. */
function depthsOf(events: readonly AuditEvent[]): ReadonlyMap<string, number> {
  const depths = new Map<string, number>();
  for (const event of events) {
    if (event.type !== "call.invoked" || event.callId === null || !isKnown(event)) continue;
    const parent = event.payload.parentCallId;
    depths.set(event.callId, parent === null ? 0 : Math.min((depths.get(parent) ?? 0) + 1, maxDepth));
  }
  return depths;
}

interface TimelineItemProps {
  readonly event: AuditEvent;
  readonly afterMs: number;
  readonly depth: number;
}

function TimelineItem({ event, afterMs, depth }: TimelineItemProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <li
      className="timeline-item"
      data-tone={toneOf(event)}
      data-depth={depth}
      style={depth > 0 ? { marginInlineStart: `${depth * 1.25}rem` } : undefined}
    >
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary className="hovers">
          <span className="event-type">{visible(event.type)}</span>
          <span className="clip hint event-text">{visible(textOf(event))}</span>
          <time className="hint num" dateTime={visible(event.time)} title={visible(event.time)}>
            {Number.isFinite(afterMs) ? `+${offsetText(afterMs)}` : "no time"}
          </time>
        </summary>
        {isOpen && <EventBody event={event} />}
      </details>
    </li>
  );
}

/** Made when it is opened: a log has many events, and a person opens few. */
function EventBody({ event }: { readonly event: AuditEvent }): ReactNode {
  return (
    <>
      <Json value={event.payload} label={`Payload of ${event.type}`} />
      <dl className="facts">
        <Fact name="Number">{event.seq}</Fact>
        <Fact name="Time">{visible(event.time)}</Fact>
        <HashFact name="Hash" hash={event.hash} />
        <HashFact name="Before" hash={event.prev} />
      </dl>
    </>
  );
}

const tones = {
  "tool.registered": "neutral",
  "tool.unregistered": "neutral",
  "tool.quarantined": "bad",
  "health.asked": "neutral",
  "health.answered": "neutral",
  "purity.asked": "neutral",
  "purity.answered": "neutral",
  "policy.changed": "neutral",
  "mode.changed": "warn",
  "call.invoked": "neutral",
  "call.keyed": "neutral",
  "body.read": "accent",
  "capability.checked": "neutral",
  "policy.decided": "neutral",
  "approval.requested": "warn",
  "approval.resolved": "neutral",
  "call.queued": "warn",
  "tool.started": "accent",
  "capability.used": "accent",
  "result.reused": "accent",
  "tool.retried": "warn",
  "tool.suspended": "warn",
  "tool.resumed": "accent",
  "data.kept": "neutral",
  "tool.completed": "good",
  "tool.failed": "bad",
  "tool.blocked": "bad",
  "tool.lost": "bad",
  "grant.revoked": "bad",
  "grant.restored": "neutral",
  "log.recovered": "warn",
} as const satisfies Record<AuditType, Tone>;

function toneOf(event: AuditEvent): Tone {
  if (!isKnown(event)) return "warn";
  if (event.type === "policy.decided")
    return ({ allow: "good", ask: "warn", deny: "bad" } as const)[event.payload.decision];
  if (event.type === "approval.resolved") return event.payload.answer === "allow" ? "good" : "bad";
  if (event.type === "capability.used") return event.payload.outcome === "ok" ? "accent" : "bad";
  return tones[event.type];
}

/** The line is one line; the payload below has the rest. */
const shownLength = 300;

function textOf(event: AuditEvent): string {
  if (!isKnown(event)) return "This page does not know the form of this event.";
  const text = sentenceOf(event);
  return text.length > shownLength ? `${text.slice(0, shownLength)}…` : text;
}
