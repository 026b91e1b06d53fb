import type { AuditLog } from "../audit/log.ts";
import { kernelScope } from "../audit/scope.ts";
import type { IsolatePool } from "../isolate/pool/pool.ts";
import type { StateChange } from "../state/change.ts";
import type { RegisteredTool } from "../tool/package.ts";
import type { Registry } from "../tool/registry.ts";

export interface UnregisterPorts {
  readonly registry: Registry;
  readonly pools: ReadonlyMap<unknown, IsolatePool>;
  readonly log: AuditLog;
  /** For the extensions, which keep things of tools as well. */
  readonly onUnregister: (tool: RegisteredTool) => readonly StateChange[];
}

/**
 * Takes a tool away: at once, before it is on record. Its running calls continue.
 *
 * @throws AuditUnavailable
 */
export async function unregister(
  id: string,
  { registry, pools, log, onUnregister }: UnregisterPorts,
): Promise<boolean> {
  const tool = registry.remove(id);
  if (!tool) return false;
  for (const pool of pools.values()) pool.retire(tool);
  log.record("tool.unregistered", kernelScope, { tool: tool.id, toolHash: tool.hash }, onUnregister(tool));
  await log.flush();
  return true;
}
