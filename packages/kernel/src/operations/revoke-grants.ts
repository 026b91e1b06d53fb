import type { AuditLog } from "../audit/log.ts";
import { kernelScope } from "../audit/scope.ts";
import { readMatch, type Revocation, type RevocationMatch, type Revocations } from "../capability/revocation.ts";
import { uuidv7 } from "../id/uuid.ts";
import { shortTextOf } from "../support/foreign.ts";
import type { Clock } from "../isolate/clock.ts";
import type { Watchers } from "./watchers.ts";

/** Takes grants from callers and gives them back, on record. */
export class GrantRevocations {
  readonly #revocations: Revocations;
  readonly #log: AuditLog;
  readonly #clock: Clock;
  readonly #kinds: readonly string[];
  readonly #toolWatchers: Watchers;

  /** @param kinds the known ones */
  constructor(revocations: Revocations, log: AuditLog, clock: Clock, kinds: readonly string[], toolWatchers: Watchers) {
    this.#revocations = revocations;
    this.#log = log;
    this.#clock = clock;
    this.#kinds = kinds;
    this.#toolWatchers = toolWatchers;
  }

  list(): readonly Revocation[] {
    return this.#revocations.list();
  }

  /**
   * Takes effect immediately, and is on record when it resolves. @throws TypeError for an empty
   * match.
   */
  async revoke(
    given: RevocationMatch,
    reason: string,
  ): Promise<{ readonly revocationId: string; readonly calls: number }> {
    const match = readMatch(given, this.#kinds);
    const revocationId = uuidv7(this.#clock.now());
    const why = shortTextOf(reason, 500);
    const { calls, changes, takeGrants } = this.#revocations.revoke({ revocationId, match, reason: why });
    this.#log.record("grant.revoked", kernelScope, { revocationId, match: { ...match }, reason: why, calls }, changes);
    takeGrants();
    this.#toolWatchers.notify();
    await this.#log.flush();
    return { revocationId, calls };
  }

  /** For calls that begin later. `false` when there is none. */
  async restore(revocationId: string, reason: string): Promise<boolean> {
    const changes = this.#revocations.restore(revocationId);
    if (changes.length === 0) return false;
    const why = shortTextOf(reason, 500);
    this.#log.record("grant.restored", kernelScope, { revocationId, reason: why }, changes);
    await this.#log.flush();
    this.#toolWatchers.notify();
    return true;
  }
}
