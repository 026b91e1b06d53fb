import { hashJson } from "../normalize/hash.ts";
import { isJsonObject, type JsonValue } from "../normalize/json.ts";
import { snapshot } from "../normalize/snapshot.ts";
import type { AuditEvent } from "./event.ts";

/** What the first event points back to. */
export const firstPrev: string = `blake3:${"0".repeat(64)}`;

export type ChainCheck =
  | { readonly ok: true; readonly events: number; readonly lastHash: string }
  | { readonly ok: false; readonly seq: number; readonly reason: string };

/**
 * Whether a piece of a log is whole: every event unchanged, none missing, none moved. A piece that begins at `seq` 0 must begin the chain. Takes
 * foreign data and never throws, as long as it can be iterated.
 */
export function verifyChain(events: Iterable<AuditEvent>): ChainCheck {
  let expectedSeq: number | undefined;
  let prev: string | undefined;
  let count = 0;
  for (const event of events as Iterable<unknown>) {
    const plain = snapshot(event);
    const { hash, ...body } = plain.ok && isJsonObject(plain.value) ? plain.value : {};
    const { seq } = body;
    if (!isSeq(seq)) return { ok: false, seq: expectedSeq ?? 0, reason: `Event ${expectedSeq ?? 0} is not an event.` };
    const at = expectedSeq ?? seq;
    if (seq !== at) return { ok: false, seq: at, reason: `Event ${at} is missing: ${seq} came instead.` };
    const expectedPrev = at === 0 ? firstPrev : prev;
    if (expectedPrev !== undefined && body["prev"] !== expectedPrev)
      return { ok: false, seq: at, reason: `Event ${at} does not follow the one before.` };
    if (hash !== hashJson(body)) return { ok: false, seq: at, reason: `Event ${at} was changed.` };
    prev = hash;
    expectedSeq = at + 1;
    count++;
  }
  return { ok: true, events: count, lastHash: prev ?? firstPrev };
}

function isSeq(value: JsonValue | undefined): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
