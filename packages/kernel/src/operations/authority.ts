import type { AuditLog } from "../audit/log.ts";
import { kernelScope } from "../audit/scope.ts";
import type { Authority } from "../call/steps/check-grants.ts";
import { shortTextOf } from "../support/foreign.ts";
import type { Policy } from "../policy/document/make.ts";
import type { Mode } from "../tool/manifest.ts";
import { isStricter, knownMode } from "../tool/modes.ts";

/** Policy and mode, and their changes: each is on record before it takes effect, and they take effect in order. */
export class AuthorityState {
  readonly #log: AuditLog;
  #policy: Policy;
  #mode: Mode;
  /** The last mode in the log. A stricter one can already apply. */
  #recordedMode: Mode;
  /** Asked for, and not yet on record. */
  readonly #modesAhead: Mode[] = [];
  readonly #onTighten: (mode: Mode) => void;
  #lastChange: Promise<unknown> = Promise.resolve();

  /**
   * @param onTighten ends the running calls that a stricter mode denies
   * @throws TypeError for an unknown mode: a bug of the embedding program.
   */
  constructor(policy: Policy, mode: Mode, log: AuditLog, onTighten: (mode: Mode) => void) {
    this.#policy = policy;
    this.#mode = knownMode(mode);
    this.#recordedMode = this.#mode;
    this.#log = log;
    this.#onTighten = onTighten;
  }

  get now(): Authority {
    return { policy: this.#policy, mode: this.#mode };
  }

  /** @throws TypeError for an unknown mode: a bug of the embedding program. */
  async setMode(mode: Mode, reason: string): Promise<void> {
    // A tighter policy holds at once; a looser one waits for the record, and for stricter ones of the meantime.
    if (isStricter(knownMode(mode), this.#mode)) this.#tighten(mode);
    this.#modesAhead.push(mode);
    await this.#inTurn(async () => {
      try {
        const previous = this.#recordedMode;
        this.#recordedMode = mode;
        this.#log.record("mode.changed", kernelScope, { mode, previous, reason: shortTextOf(reason, 500) });
        await this.#log.flush();
        this.#mode = this.#modesAhead.reduce(
          (strictest, each) => (isStricter(each, strictest) ? each : strictest),
          mode,
        );
      } finally {
        this.#modesAhead.shift();
      }
    });
  }

  #tighten(mode: Mode): void {
    this.#mode = mode;
    this.#onTighten(mode);
  }

  setPolicy(policy: Policy): Promise<void> {
    return this.#inTurn(async () => {
      const payload = { policyHash: policy.hash, previousHash: this.#policy.hash };
      this.#log.record("policy.changed", kernelScope, payload);
      await this.#log.flush();
      this.#policy = policy;
    });
  }

  /** One after the other: a slow sink never lets two changes interleave. */
  #inTurn(change: () => Promise<void>): Promise<void> {
    const turn = this.#lastChange.then(change);
    this.#lastChange = turn.catch(() => {});
    return turn;
  }
}
