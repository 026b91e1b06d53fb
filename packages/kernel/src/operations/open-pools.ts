import type { AuditLog } from "../audit/log.ts";
import { kernelScope } from "../audit/scope.ts";
import type { Clock } from "../isolate/clock.ts";
import type { OwnHost } from "../isolate/own-host.ts";
import { IsolatePool } from "../isolate/pool/pool.ts";
import type { Quarantine } from "../isolate/pool/quarantine.ts";
import type { Reuse } from "../isolate/pool/slot.ts";

export interface PoolParts {
  readonly clock: Clock;
  readonly log: AuditLog;
  readonly quarantine: Quarantine;
  readonly reuse: ReadonlyMap<string, Reuse>;
}

/** A pool for each host, with one quarantine, which is on record. */
export function openPools(
  hosts: readonly OwnHost[],
  { clock, log, quarantine, reuse }: PoolParts,
): ReadonlyMap<OwnHost, IsolatePool> {
  const pool = (host: OwnHost): IsolatePool =>
    new IsolatePool(host, clock, {
      reuseOf: (tool) => reuse.get(tool) ?? "session",
      quarantine,
      onQuarantine: ({ id: tool }, { toolHash, caller }, { changes, ...begun }) => {
        log.record("tool.quarantined", kernelScope, { tool, toolHash, caller, ...begun }, changes);
        if (begun.cause) void flushBetweenCalls(log);
      },
      onChange: (changes) => log.changeNow(changes),
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
