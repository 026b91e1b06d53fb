import { type AuditSink, blake3Hash } from "@keyhole/kernel";
import { AuditLog } from "../../packages/kernel/src/audit/log.ts";
import { kernelScope } from "../../packages/kernel/src/audit/scope.ts";
import { SteadyClock } from "../../packages/kernel/src/state/steady-clock.ts";
import { StateTable } from "../../packages/kernel/src/state/table.ts";

/* A log of any length, and how it is opened. Behind its last checkpoint are always as many events. */

/** Behind the last checkpoint, of a log that has one. */
export const eventsBehind = 500;

let nowMs = 1_000_000;
const clock = { now: () => nowMs, monotonicMs: () => nowMs, after: () => () => {} };

/** Opens it as a kernel does. */
export async function openLong(sink: AuditSink): Promise<{ readonly log: AuditLog; readonly row: number | undefined }> {
  const rows = new StateTable<number>({
    name: "test.rows",
    version: 1,
    maxRows: 10,
    whenFull: "forget-oldest",
    untilMs: () => Infinity,
    writtenMs: (at) => at,
    codec: { encode: (at) => at, decode: (value) => (typeof value === "number" ? value : undefined) },
  });
  const log = await AuditLog.open({ sink, clock, hash: blake3Hash, tables: [rows], steady: new SteadyClock(clock) });
  if (rows.get("first") === undefined && log.end.seq === 0)
    log.record("tool.registered", kernelScope, registered, rows.put("first", nowMs));
  return { log, row: rows.get("first") };
}

const registered = { tool: "echo@1.0.0", toolHash: blake3Hash.zero };

/** @param events `eventsBehind` more than a multiple of 10,000, or fewer than 10,000 */
export async function writeLong(sink: AuditSink, events: number): Promise<void> {
  const { log } = await openLong(sink);
  while (log.end.seq < events) {
    nowMs++;
    log.record("tool.registered", kernelScope, registered);
    if (log.end.seq % 1_000 === 0) await log.flush();
  }
  await log.flush();
  await log.close(async () => {});
}
