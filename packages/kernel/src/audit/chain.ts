import { canonicalize } from "../normalize/canonical-json.ts";
import { hashText } from "../normalize/hash.ts";
import type { AuditEvent } from "./event.ts";

/** What the first event points back to. */
export const firstPrev: string = `blake3:${"0".repeat(64)}`;

export type ChainCheck =
  | { readonly ok: true; readonly events: number; readonly lastHash: string }
  | { readonly ok: false; readonly seq: number; readonly reason: string };

/**
 * Whether a piece of a log is whole: every event unchanged, none missing, none moved. A piece that begins at `seq` 0 must begin the chain. Takes
 * foreign data in the shape of events and never throws.
 */
export function verifyChain(events: Iterable<AuditEvent>): ChainCheck {
  let expectedSeq: number | undefined;
  let prev: string | undefined;
  let count = 0;
  for (const event of events) {
    const { hash, ...body } = event;
    const at = expectedSeq ?? body.seq;
    if (body.seq !== at)
      return { ok: false, seq: at, reason: `Event ${at} is missing: ${JSON.stringify(body.seq)} came instead.` };
    const expectedPrev = at === 0 ? firstPrev : prev;
    if (expectedPrev !== undefined && body.prev !== expectedPrev)
      return { ok: false, seq: at, reason: `Event ${at} does not follow the one before.` };
    const text = canonicalize(body);
    if (!text.ok) return { ok: false, seq: at, reason: `Event ${at} is not JSON: ${text.error.message}.` };
    if (hashText(text.text) !== hash) return { ok: false, seq: at, reason: `Event ${at} was changed.` };
    prev = hash;
    expectedSeq = at + 1;
    count++;
  }
  return { ok: true, events: count, lastHash: prev ?? firstPrev };
}
