import type { AuditLog } from "../audit/log.ts";
import type { Mode } from "../tool/manifest.ts";

interface Lockable {
  setMode(mode: Mode, reason: string): Promise<void>;
}

/**
 * Locks the kernel on a damaged log. Damage that opening finds locks it before its first call. The
 * kernel looks for damage before the checkpoint beside the calls, and locks when it finds any.
 *
 * @param verifiesEarlier whether to read the events before the checkpoint
 */
export async function lockOnDamage(log: AuditLog, kernel: Lockable, verifiesEarlier: boolean): Promise<void> {
  const lock = async (damage: string | null): Promise<void> =>
    damage === null ? undefined : kernel.setMode("LOCKDOWN", `The log was tampered with. ${damage}`);
  await lock(log.damage);
  // A kernel with an unwritable log runs no tool.
  if (verifiesEarlier)
    log
      .verifyEarlier()
      .then(lock)
      .catch(() => undefined);
}
