import { type AuditEvent, hashJson, type JsonValue } from "@keyhole/kernel";
import { type Checkpoint, digestBytes, merkleRoot, printDigest } from "@keyhole/kernel/audit";
import { checkpointSigner, type ProofKey } from "@keyhole/kernel/policy";

/** The log with changed events, chained again: no key is needed for it. */
export function rechained(
  events: readonly AuditEvent[],
  change: (event: AuditEvent) => AuditEvent,
): readonly AuditEvent[] {
  let prev = events[0]!.prev;
  return events.map((event) => {
    const { hash: _, ...rest } = { ...change(event), prev };
    const hash = hashJson(rest as unknown as JsonValue);
    prev = hash;
    return { ...rest, hash };
  });
}

/** A checkpoint of the first `size` events. */
export async function checkpointOf(
  key: ProofKey,
  events: readonly AuditEvent[],
  size = events.length,
): Promise<Checkpoint> {
  const root = printDigest(merkleRoot(events.slice(0, size).map(({ hash }) => digestBytes(hash)!)));
  const sign = await checkpointSigner(key);
  return sign({ origin: "shop", size, root, time: "2026-01-01T00:00:00.000Z" });
}
