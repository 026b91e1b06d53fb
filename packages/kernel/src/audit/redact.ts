import { parseOwnJson } from "../json/json.ts";
import { knownOptions } from "../json/known-options.ts";
import type { ContentStore } from "../bytes/content-store.ts";
import { hashOf } from "../hash/hash-by-algorithm.ts";
import type { AuditEvent } from "./event.ts";
import { type Opening, readOpening } from "./opening.ts";

/*
 * A log contains digests only. Where the policy says to keep a value, the event commits to it under a salt, and the value with its salt, the opening, lies in a
 * content store. So a value can be shown, with proof, or be taken away, for one reader or for ever, and no digest of the log changes.
 */

/** An event as it is handed out: with some of the values that it commits to. `openings` is outside its hash. */
export type DisclosedEvent = AuditEvent & { readonly openings?: readonly Opening[] };

/** The place in the chain of an event that a reader may not see. */
export interface WithheldEvent {
  readonly v: 1;
  readonly seq: number;
  readonly prev: string;
  readonly hash: string;
  readonly withheld: true;
}

/**
 * A log with the values that its events commit to, as far as the store has them.
 *
 * @example
 * for await (const event of disclose(await kernel.audit.read(), content)) write(`${JSON.stringify(event)}\n`);
 */
export async function* disclose(
  events: Iterable<AuditEvent> | AsyncIterable<AuditEvent>,
  content: ContentStore,
): AsyncGenerator<DisclosedEvent, void, undefined> {
  for await (const event of events) {
    const openings: Opening[] = [];
    for (const digest of commitmentsOf(event).values()) {
      const opening = await readKept(digest, content);
      if (opening) openings.push(opening);
    }
    yield openings.length === 0 ? event : { ...event, openings };
  }
}

async function readKept(digest: string, content: ContentStore): Promise<Opening | undefined> {
  const bytes = await content.get(digest);
  if (!bytes || hashOf(digest)?.bytes(bytes) !== digest) return undefined;
  return readOpening(parseOwnJson(new TextDecoder().decode(bytes)));
}

/** The values and events to remove from a log before a reader sees it. */
export interface Redaction {
  /** JSON Pointers into `{ input, output }`: values there, within, and those that they are part of. */
  readonly paths?: readonly string[];
  /** Only of these events. Default: of all. */
  readonly of?: (event: AuditEvent) => boolean;
  /** Events of which only the place in the chain is left. */
  readonly withhold?: (event: AuditEvent) => boolean;
}

export interface Redacted {
  /** They verify like the complete log; withheld events need `withheld: true` in `verifyAudit`. */
  readonly events: readonly (DisclosedEvent | WithheldEvent)[];
  /** The removed values, in the order of the log. `path` is absent for a complete event. */
  readonly redacted: readonly { readonly seq: number; readonly path?: string }[];
}

/**
 * Takes values and events out of a copy of a log. The log itself and the store stay as they are: {@link erase} is for ever.
 *
 * @throws TypeError for an unknown option, and for a path that is no place of a kept value: it would take out nothing
 * @example
 * const { events, redacted } = redact(log, { paths: ["/input/address"], withhold: ({ sessionId }) => sessionId === "other" });
 */
export function redact(events: Iterable<DisclosedEvent>, redaction: Redaction): Redacted {
  const given = knownOptions(redaction, { paths: true, of: true, withhold: true }, "redact");
  const { paths = [], of = all, withhold = none } = given;
  checkPlaces(paths);
  const redacted: { seq: number; path?: string }[] = [];
  const kept = [...events].map((event): DisclosedEvent | WithheldEvent => {
    const { seq, prev, hash, openings = [] } = event;
    if (withhold(event)) {
      redacted.push({ seq });
      return { v: 1, seq, prev, hash, withheld: true };
    }
    if (!of(event)) return event;
    const shown = openings.filter(({ path }) => !touches(path, paths));
    for (const { path } of openings) if (touches(path, paths)) redacted.push({ seq, path });
    if (shown.length > 0) return { ...event, openings: shown };
    const { openings: _, ...bare } = event;
    return bare;
  });
  return { events: kept, redacted };
}

/**
 * Deletes the values at some paths from the store. The log still verifies, and these commitments
 * stay closed. Returns the digests.
 *
 * @throws TypeError as {@link redact}
 */
export async function erase(
  events: Iterable<AuditEvent> | AsyncIterable<AuditEvent>,
  redaction: Omit<Redaction, "withhold">,
  content: ContentStore,
): Promise<readonly string[]> {
  const { paths = [], of = all } = knownOptions(redaction, { paths: true, of: true }, "erase");
  checkPlaces(paths);
  const erased: string[] = [];
  for await (const event of events) {
    if (!of(event)) continue;
    for (const [path, digest] of commitmentsOf(event)) {
      if (!touches(path, paths)) continue;
      await content.delete(digest);
      erased.push(digest);
    }
  }
  return erased;
}

function commitmentsOf(event: AuditEvent): ReadonlyMap<string, string> {
  return new Map(event.type === "data.kept" ? Object.entries(event.payload.commitments) : []);
}

/** Whether a value holds one of the places, or is part of one. */
function touches(path: string, places: readonly string[]): boolean {
  return places.some((place) => place === path || place.startsWith(`${path}/`) || path.startsWith(`${place}/`));
}

const placePattern = /^(?:\/(?:input|output)(?:\/(?:[^/~]|~[01])*)*)?$/;

function checkPlaces(paths: readonly string[]): void {
  const wrong = paths.find((path) => !placePattern.test(path));
  if (wrong === undefined) return;
  const shown = JSON.stringify(wrong.slice(0, 100));
  throw new TypeError(
    `${shown} is no place of a kept value. Expected a JSON Pointer that begins with /input or /output.`,
  );
}

const all = (): boolean => true;
const none = (): boolean => false;
