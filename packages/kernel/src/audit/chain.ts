import { blake3Hash } from "../hash/blake3-hash.ts";
import type { Hash } from "../hash/hash.ts";
import { isJsonObject, type JsonValue } from "../json/json.ts";
import { snapshot } from "../json/snapshot.ts";
import type { AuditEvent } from "./event.ts";

export type ChainCheck =
  | { readonly ok: true; readonly events: number; readonly lastHash: string }
  | { readonly ok: false; readonly seq: number; readonly reason: string };

/**
 * Whether a piece of a log is whole: every event unchanged, none missing, none moved. A piece that begins at `seq` 0 must begin the chain. Takes
 * foreign data and never throws, as long as it can be iterated.
 *
 * @param by The algorithm of the kernel that wrote it. Default BLAKE3. The verifier refuses events in another one.
 */
export function verifyChain(events: Iterable<AuditEvent>, by: Hash = blake3Hash): ChainCheck {
  let expectedSeq: number | undefined;
  let prev: string | undefined;
  let count = 0;
  const foreign: Iterable<unknown> = events;
  for (const event of foreign) {
    const plain = snapshot(event);
    const { hash, ...body } = plain.ok && isJsonObject(plain.value) ? plain.value : {};
    const { seq } = body;
    if (!isSeq(seq)) return { ok: false, seq: expectedSeq ?? 0, reason: `Event ${expectedSeq ?? 0} is not an event.` };
    const at = expectedSeq ?? seq;
    if (seq !== at) return { ok: false, seq: at, reason: `Event ${at} is missing: ${seq} came instead.` };
    const expectedPrev = at === 0 ? by.zero : prev;
    if (expectedPrev !== undefined && body["prev"] !== expectedPrev)
      return { ok: false, seq: at, reason: `Event ${at} does not follow the one before.` };
    if (hash !== by.json(body)) return { ok: false, seq: at, reason: `Event ${at} was changed.` };
    prev = hash;
    expectedSeq = at + 1;
    count++;
  }
  return { ok: true, events: count, lastHash: prev ?? by.zero };
}

function isSeq(value: JsonValue | undefined): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
