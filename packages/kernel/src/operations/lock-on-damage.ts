import type { AuditLog } from "../audit/log.ts";
import type { Mode } from "../tool/manifest.ts";

interface Lockable {
  setMode(mode: Mode, reason: string): Promise<void>;
}

/**
 * Damage that was found at opening locks the kernel before its first call; damage before the checkpoint, as soon as it is found, beside the calls.
 *
 * @param verifiesEarlier whether what lies before the checkpoint is read
 */
export async function lockOnDamage(log: AuditLog, kernel: Lockable, verifiesEarlier: boolean): Promise<void> {
  const lock = async (damage: string | null): Promise<void> =>
    damage === null ? undefined : kernel.setMode("LOCKDOWN", `The log was tampered with. ${damage}`);
  await lock(log.damage);
  if (!verifiesEarlier) return;
  // A log that cannot be written any more runs nothing as it is.
  log
    .verifyEarlier()
    .then(lock)
    .catch(() => undefined);
}
