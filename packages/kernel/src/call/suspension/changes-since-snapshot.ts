import type { AuditLog } from "../../audit/log.ts";
import type { Revocation } from "../../capability/revocation.ts";
import type { Snapshot } from "./snapshot-format.ts";

/** Changes in the log during the suspension of a call. */
export interface ChangesSinceSnapshot {
  /** Whether the log has the event of the snapshot. Without it the kernel knows no more. */
  readonly isThere: boolean;
  readonly wasResumed: boolean;
  /**
   * Also those restored since: a restore does not return a grant to a call that held it at the
   * revocation.
   */
  readonly revocations: readonly Revocation[];
  /** Revoked approvals. */
  readonly revokedApprovals: ReadonlySet<string>;
  /** Hashes of tools. */
  readonly unregistered: ReadonlySet<string>;
}

const PAGE_EVENTS = 1_000;

/** Returns no changes for another log: one without the event before the snapshot. */
export async function readChangesSinceSnapshot(
  log: AuditLog,
  { log: { seq, prev }, snapshotId }: Snapshot,
): Promise<ChangesSinceSnapshot> {
  await log.flush();
  const revocations: Revocation[] = [];
  const revokedApprovals = new Set<string>();
  const unregistered = new Set<string>();
  let isThere = false;
  let wasResumed = false;
  const [before] = seq > 0 ? await log.read(seq - 1, 1) : [];
  const isSame = before?.seq === seq - 1 && before.hash === prev;
  for (let from = isSame ? seq : Infinity; from < log.end.seq;) {
    const events = await log.read(from, PAGE_EVENTS);
    const last = events.at(-1);
    if (!last) break;
    from = last.seq + 1;
    for (const { type, payload } of events) {
      if (type === "tool.suspended") isThere ||= payload.snapshotId === snapshotId;
      else if (type === "tool.resumed") wasResumed ||= payload.snapshotId === snapshotId;
      else if (type === "grant.revoked") revocations.push(payload);
      else if (type === "approval.resolved" && payload.answer === "deny") revokedApprovals.add(payload.approvalId);
      else if (type === "tool.unregistered") unregistered.add(payload.toolHash);
    }
  }
  return { isThere, wasResumed, revocations, revokedApprovals, unregistered };
}
