import type { AuditLog } from "../audit/log.ts";
import type { ComposedKernelOptions } from "../kernel-api.ts";
import { tell } from "../support/foreign.ts";
import type { Mode } from "../tool/manifest.ts";

interface Lockable {
  setMode(mode: Mode, reason: string): Promise<void>;
}

/**
 * Locks the kernel on a damaged log. Damage that opening finds locks it before its first call. The
 * kernel looks for damage before the checkpoint beside the calls, and locks when it finds any.
 *
 * @param verify whether to read the events before the checkpoint, and who is told how that ended
 */
export async function lockOnDamage(
  log: AuditLog,
  kernel: Lockable,
  verify: ComposedKernelOptions["verifyEarlier"] = true,
): Promise<void> {
  const lock = (damage: string | null): Promise<void> | undefined =>
    damage === null ? undefined : kernel.setMode("LOCKDOWN", `The log was tampered with. ${damage}`);
  await lock(log.damage);
  if (verify === false) return;
  // A kernel with an unwritable log runs no tool.
  const end = (): void => void (typeof verify === "function" && tell(verify, [log.earlier.state]));
  log.verifyEarlier().then(lock).then(end, end);
}
