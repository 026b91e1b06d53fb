import type { AuditLog } from "../audit/log.ts";
import type { Backoff } from "../isolate/backoff.ts";
import { kernelScope } from "../audit/scope.ts";
import type { Clock } from "../isolate/clock.ts";
import type { IsolateHost } from "../isolate/port.ts";
import { IsolatePool } from "../isolate/pool/pool.ts";
import type { Reuse } from "../isolate/pool/slot.ts";

export interface PoolParts {
  readonly clock: Clock;
  readonly log: AuditLog;
  readonly backoff: Backoff;
  readonly reuse: ReadonlyMap<string, Reuse>;
}

/** A pool for each host, with one backoff, which is on record. */
export function openPools(
  hosts: readonly IsolateHost[],
  { clock, log, backoff, reuse }: PoolParts,
): ReadonlyMap<IsolateHost, IsolatePool> {
  backoff.open((changes, rest) => {
    if (rest) log.record("tool.quarantined", kernelScope, rest, changes);
    else log.changeNow(changes);
  });
  const pool = (host: IsolateHost): IsolatePool =>
    new IsolatePool(host, clock, {
      reuseOf: (tool) => reuse.get(tool) ?? "session",
      backoff,
      onWentOn: () => void flushBetweenCalls(log),
    });
  return new Map(hosts.map((host) => [host, pool(host)]));
}

/** No call is there that would. */
async function flushBetweenCalls(log: AuditLog): Promise<void> {
  try {
    await log.flush();
  } catch {
    // The log keeps the failure, and refuses the next call with it.
  }
}
