import type { AuditEvent } from "@keyhole/kernel";
import type { CallHead } from "../session/call-head.ts";
import type { SessionStore } from "../session/session-store.ts";
import { useReading } from "../session/useReading.ts";
import { useShown } from "../session/useSession.ts";

/** Events to draw, in the order of their calls. */
export interface Logged {
  readonly events: readonly AuditEvent[];
  /** The call of the page that an event came with. */
  readonly callOf: ReadonlyMap<AuditEvent, string>;
  /** A sentence about the undrawn events; empty without any. */
  readonly left: string;
  readonly isLoading: boolean;
}

/** The most rows of the waterfall: more than a person can look at, fewer than make the page slow. */
const mostEvents = 100_000;

const none: Logged = { events: [], callOf: new Map(), left: "", isLoading: true };
const noEvents: readonly AuditEvent[] = [];
const noCalls: ReadonlyMap<AuditEvent, string> = new Map();

export function useCallEvents(id: string): Logged {
  const shown = useShown(id);
  const events = shown?.state === "shown" ? shown.run.events : noEvents;
  const left =
    shown?.state === "missing"
      ? "This call is not here: it was deleted, or made in another browser."
      : shown?.state === "unreadable"
        ? "This call cannot be read."
        : "";
  return { events, callOf: noCalls, left, isLoading: shown?.state === "loading" };
}

/** Every call that the session keeps, the latest first until there are too many events. */
export function useSessionEvents(): Logged {
  return useReading(none, readingOf);
}

function readingOf(store: SessionStore): () => Promise<Logged> {
  let known = new Map<string, readonly AuditEvent[]>();
  return () => {
    const before = known;
    known = new Map();
    return read(store.state().heads, async ({ id, events }) => {
      // Heads change with each piece of a running call: a head without growth needs no new read.
      const had = before.get(id);
      const all = had?.length === events ? had : ((await store.read(id))?.events ?? []);
      known.set(id, all);
      return all;
    });
  };
}

async function read(
  heads: readonly CallHead[],
  eventsOf: (head: CallHead) => Promise<readonly AuditEvent[]>,
): Promise<Logged> {
  const parts: (readonly AuditEvent[])[] = [];
  const callOf = new Map<AuditEvent, string>();
  let [count, leftCalls, unread] = [0, 0, 0];
  for (const head of heads) {
    const { id, events } = head;
    if (count + events > mostEvents) {
      leftCalls += 1;
      continue;
    }
    const found = await eventsOf(head).catch(() => undefined);
    if (found === undefined) unread += 1;
    for (const event of found ?? []) callOf.set(event, id);
    parts.push(found ?? []);
    count += found?.length ?? 0;
  }
  const sentences = [
    ...(leftCalls > 0
      ? [
          `${leftCalls.toLocaleString("en")} calls are left out: together they have more than ${mostEvents.toLocaleString("en")} events.`,
        ]
      : []),
    ...(unread > 0 ? [`${unread.toLocaleString("en")} calls cannot be read.`] : []),
  ];
  return { events: parts.toReversed().flat(), callOf, left: sentences.join(" "), isLoading: false };
}
