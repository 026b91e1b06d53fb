import * as limits from "../../limits.ts";
import { type JsonValue, isJsonArray } from "../../json/json.ts";
import { noChanges, type StateChange } from "../../state/change.ts";
import type { SteadyClock } from "../../state/steady-clock.ts";
import { StateTable } from "../../state/table.ts";

interface Labelled {
  /** Sorted. */
  readonly labels: readonly string[];
  /** Since the epoch. */
  readonly writtenMs: number;
  readonly keptMs: number;
}

/** Of one caller: a name of another caller's session names a session of its own. */
interface Session {
  readonly caller: string;
  readonly sessionId: string;
}

/** One text for each session: callers choose both names. */
function sessionKey({ caller, sessionId }: Session): string {
  return JSON.stringify([caller, sessionId]);
}

/** The labels of a session, for one running call of it. */
export class LabelsOfRun {
  #now: readonly string[];

  constructor(atStart: readonly string[]) {
    this.#now = atStart;
  }

  /** Sorted. Another array from each change on. */
  get now(): readonly string[] {
    return this.#now;
  }

  receive(labels: readonly string[]): void {
    const all = new Set([...this.#now, ...labels]);
    if (all.size > this.#now.length) this.#now = [...all].toSorted();
  }
}

/**
 * The labels of each session. They only grow. The kernel forgets a session after a long time
 * without use, and a session of a single call sooner. Of a caller that has its share of
 * them, an unknown one carries every label.
 */
export class SessionLabels {
  readonly #clock: SteadyClock;
  #nextSweepMs = 0;
  /** By session. */
  readonly #runs = new Map<string, Set<LabelsOfRun>>();
  readonly table: StateTable<Labelled> = new StateTable<Labelled>({
    name: "policy.labels",
    version: 1,
    maxRows: limits.labelledSessions,
    whenFull: "refuse",
    untilMs: ({ writtenMs, keptMs }) => writtenMs + keptMs,
    writtenMs: ({ writtenMs }) => writtenMs,
    codec: {
      encode: ({ labels, writtenMs, keptMs }) => [labels, writtenMs, keptMs],
      decode: readRow,
    },
  });

  constructor(clock: SteadyClock) {
    this.#clock = clock;
  }

  /** Sorted. A session that may have been forgotten carries all that there are. */
  of(session: Session, all: readonly string[]): readonly string[] {
    if (this.table.size === 0) return [];
    const row = this.table.get(sessionKey(session));
    if (row && row.writtenMs + row.keptMs > this.#clock.now()) return row.labels;
    return this.#isFullFor(session) ? all : [];
  }

  /** The labels that a running call meets: from its start on also those that other calls bring. */
  follow(session: Session, all: readonly string[]): { readonly labels: LabelsOfRun; readonly end: () => void } {
    const key = sessionKey(session);
    const labels = new LabelsOfRun(this.of(session, all));
    const runs = this.#runs.get(key) ?? new Set();
    this.#runs.set(key, runs.add(labels));
    const end = (): void => {
      runs.delete(labels);
      if (runs.size === 0 && this.#runs.get(key) === runs) this.#runs.delete(key);
    };
    return { labels, end };
  }

  /**
   * For the event after which the session knows what a tool knew.
   *
   * @param isOwn whether a call had the session for itself, because it named none
   * @param by the run that brings them: its own requests carry no output of its own
   */
  add(session: Session, labels: readonly string[], isOwn: boolean, by?: LabelsOfRun): readonly StateChange[] {
    const key = sessionKey(session);
    // Also where the session finds no room in the table.
    for (const run of this.#runs.get(key) ?? []) if (run !== by) run.receive(labels);
    const known = this.table.get(key);
    const all = new Set([...(known?.labels ?? []), ...labels]);
    if (all.size === 0 || (known === undefined && this.#isFullFor(session))) return noChanges;
    if (known && all.size === known.labels.length) return this.refresh(session);
    const keptMs = Math.max(known?.keptMs ?? 0, isOwn ? limits.ownSessionMs : limits.sessionMs);
    return this.table.put(key, { labels: [...all].toSorted(), writtenMs: this.#clock.now(), keptMs });
  }

  /** Keeps the labels of a session that is in use, from time to time. */
  refresh(session: Session): readonly StateChange[] {
    const key = sessionKey(session);
    const known = this.table.get(key);
    const nowMs = this.#clock.now();
    const ageMs = known ? nowMs - known.writtenMs : 0;
    if (!known || ageMs < known.keptMs / REFRESHES || ageMs >= known.keptMs) return noChanges;
    return this.table.put(key, { ...known, writtenMs: nowMs });
  }

  #isFullFor(session: Session): boolean {
    const key = sessionKey(session);
    const nowMs = this.#clock.now();
    if (this.table.isFullFor(key) && nowMs >= this.#nextSweepMs) {
      this.#nextSweepMs = nowMs + SWEEP_MS;
      this.table.expire(nowMs);
    }
    return this.table.isFullFor(key);
  }
}

/** How often in its time a session that is in use is written again, at most. */
const REFRESHES = 30;
/** A sweep reads every session. */
const SWEEP_MS = 1_000;

function readRow(value: JsonValue): Labelled | undefined {
  const [labels, writtenMs, keptMs] = isJsonArray(value) ? value : [];
  const isRead =
    Array.isArray(labels) && labels.every((each) => typeof each === "string") && isTime(writtenMs) && isTime(keptMs);
  return isRead ? { labels, writtenMs, keptMs } : undefined;
}

const isTime = (value: JsonValue | undefined): value is number => typeof value === "number" && value >= 0;
