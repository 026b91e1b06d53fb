import { type AuditEvent, visible } from "@keyhole/kernel";
import { type ReactNode, useMemo } from "react";
import { Button, IconButton } from "../ui/Button.tsx";
import { CopyButton } from "../ui/CopyButton.tsx";
import { Fact } from "../ui/Fact.tsx";
import { Json } from "../ui/Json.tsx";
import { recompute } from "./chain.ts";
import { shortHash } from "../ui/short-hash.ts";
import type { Span } from "./spans.ts";

interface SpanPaneProps {
  readonly span: Span;
  /** The event after it, where it is in the list. */
  readonly next: (event: AuditEvent) => AuditEvent | undefined;
  readonly onOpenCall: (() => void) | undefined;
  readonly onClose: () => void;
}

/** All that the log says of one span. */
export function SpanPane({ span, next, onOpenCall, onClose }: SpanPaneProps): ReactNode {
  const { event, endEvent } = span;
  return (
    <aside className="surface shrinks wf-pane" aria-label="The span">
      <header className="line wf-pane-head">
        <h2 className="wrap">
          {visible(span.name)} {event.seq}
        </h2>
        <IconButton icon="close" label="Close the span" onPress={onClose} />
      </header>
      <EventFacts event={event} next={next(event)} />
      {endEvent && endEvent !== event && <EventFacts event={endEvent} next={next(endEvent)} />}
      {onOpenCall && <Button onPress={onOpenCall}>Open the call</Button>}
    </aside>
  );
}

function EventFacts({ event, next }: { readonly event: AuditEvent; readonly next: AuditEvent | undefined }): ReactNode {
  const broken = useMemo(() => recompute(event, 0), [event]);
  return (
    <section>
      <h3>
        <code>{visible(event.type)}</code> {event.seq}
      </h3>
      <Json value={event.payload} label={`Payload of event ${event.seq}`} />
      <h4>In the chain</h4>
      <dl className="small wf-hashes">
        <HashFact name="prev" hash={event.prev} />
        <HashFact
          name="hash"
          hash={event.hash}
          note={broken ? "not that of the content" : "recomputed"}
          isBad={broken !== undefined}
        />
        {next && <HashFact name="next" hash={next.hash} />}
        {broken && <HashFact name="content" hash={broken.expected} />}
      </dl>
      <h4>Under</h4>
      <dl className="small wf-hashes">
        {proofOf(event) !== undefined && <HashFact name="proof" hash={proofOf(event) ?? ""} />}
        <Fact name="call">
          <code>{visible(event.callId ?? "none")}</code>
        </Fact>
        <Fact name="time">
          <code>{visible(event.time)}</code>
        </Fact>
      </dl>
    </section>
  );
}

interface HashFactProps {
  readonly name: string;
  readonly hash: string;
  readonly note?: string;
  readonly isBad?: boolean;
}

function HashFact({ name, hash, note, isBad = false }: HashFactProps): ReactNode {
  return (
    <Fact name={name}>
      <code title={visible(hash)}>{visible(shortHash(hash))}</code>
      {note !== undefined && (
        <span className="toned" data-tone={isBad ? "bad" : "good"}>
          {note}
        </span>
      )}
      <CopyButton text={hash} what={`the hash ${name}`} />
    </Fact>
  );
}

function proofOf({ payload }: AuditEvent): string | undefined {
  const { proofHash } = payload as { readonly proofHash?: unknown };
  return typeof proofHash === "string" ? proofHash : undefined;
}
