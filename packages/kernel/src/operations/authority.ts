import { modeRow } from "../audit/event.ts";
import type { AuditLog } from "../audit/log.ts";
import { kernelScope } from "../audit/scope.ts";
import type { Authority } from "../call/steps/check-grants.ts";
import { shortTextOf } from "../support/foreign.ts";
import type { Policy } from "../policy/document/make.ts";
import { StateTable } from "../state/table.ts";
import { type Mode, modes } from "../tool/manifest.ts";
import { isStricter, knownMode } from "../tool/modes.ts";

const [name, version, key] = modeRow;

/** The mode that was set last. It outlives the kernel: only a later change ends it. */
export const modeTable = (): StateTable<Mode> =>
  new StateTable({
    name,
    version,
    maxRows: 1,
    whenFull: "refuse",
    codec: { encode: (mode) => mode, decode: (value) => modes.find((mode) => mode === value) },
  });

/** Policy and mode, and their changes: each is on record before it takes effect, and they take effect in order. */
export class AuthorityState {
  readonly #log: AuditLog;
  readonly #modes: StateTable<Mode>;
  #policy: Policy;
  #mode: Mode;
  /** The last mode in the log. A stricter one can already apply. */
  #recordedMode: Mode;
  /** Asked for, and not yet on record. */
  readonly #modesAhead: Mode[] = [];
  readonly #onTighten: (mode: Mode) => void;
  readonly #onChange: () => void;
  #lastChange: Promise<unknown> = Promise.resolve();

  /**
   * @param mode of the embedding program; the kept one holds where it is stricter
   * @param onTighten ends the running calls that a stricter mode denies
   * @param onChange ends the open questions that a change voids
   */
  constructor(
    policy: Policy,
    mode: Mode,
    kept: StateTable<Mode>,
    log: AuditLog,
    onTighten: (mode: Mode) => void,
    onChange: () => void,
  ) {
    this.#policy = policy;
    this.#mode = this.#recordedMode = strictest(mode, kept.get(key));
    this.#modes = kept;
    this.#log = log;
    this.#onTighten = onTighten;
    this.#onChange = onChange;
  }

  get now(): Authority {
    return { policy: this.#policy, mode: this.#mode };
  }

  /** @throws TypeError for an unknown mode: a bug of the embedding program. */
  async setMode(mode: Mode, reason: string, author?: string): Promise<void> {
    // A tighter policy holds at once; a looser one waits for the record, and for stricter ones of the meantime.
    if (isStricter(knownMode(mode), this.#mode)) this.#tighten(mode);
    this.#modesAhead.push(mode);
    await this.#inTurn(async () => {
      try {
        const previous = this.#recordedMode;
        this.#recordedMode = mode;
        const by = shortTextOf(author ?? "", 256);
        const payload = { mode, previous, reason: shortTextOf(reason, 500), ...(by !== "" && { author: by }) };
        this.#log.record("mode.changed", kernelScope, payload, this.#modes.put(key, mode));
        await this.#log.flush();
        this.#mode = this.#modesAhead.reduce(strictest, mode);
        this.#onChange();
      } finally {
        this.#modesAhead.shift();
      }
    });
  }

  #tighten(mode: Mode): void {
    this.#mode = mode;
    this.#onTighten(mode);
    this.#onChange();
  }

  setPolicy(policy: Policy): Promise<void> {
    return this.#inTurn(async () => {
      const payload = { policyHash: policy.hash, previousHash: this.#policy.hash };
      this.#log.record("policy.changed", kernelScope, payload);
      await this.#log.flush();
      this.#policy = policy;
      this.#onChange();
    });
  }

  /** One after the other: a slow sink never lets two changes interleave. */
  #inTurn(change: () => Promise<void>): Promise<void> {
    const turn = this.#lastChange.then(change);
    this.#lastChange = turn.catch(() => {});
    return turn;
  }
}

const strictest = (mode: Mode, other: Mode = mode): Mode => (isStricter(other, mode) ? other : mode);
