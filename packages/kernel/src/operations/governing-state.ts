import { Backoff } from "../isolate/backoff.ts";
import { Limiter } from "../bounds/limiter.ts";
import { Revocations } from "../capability/revocation.ts";
import type { Clock } from "../isolate/clock.ts";
import { Counters } from "../policy/decision/counters.ts";
import { SessionLabels } from "../policy/decision/session-labels.ts";
import type { DeclaredTable } from "../state/change.ts";
import { SteadyClock } from "../state/steady-clock.ts";
import type { StateTable } from "../state/table.ts";
import type { Mode } from "../tool/manifest.ts";
import { modeTable } from "./authority.ts";

/** The state of the core that governs calls and outlives the kernel. It is there before the log is opened, and has its rows when that is open. */
export class GoverningState {
  readonly steady: SteadyClock;
  readonly counters: Counters;
  readonly labels: SessionLabels;
  readonly limiter: Limiter;
  readonly revocations: Revocations = new Revocations();
  readonly backoff: Backoff;
  readonly modes: { readonly table: StateTable<Mode> } = { table: modeTable() };

  constructor(clock: Clock) {
    this.steady = new SteadyClock(clock);
    this.counters = new Counters(this.steady);
    this.labels = new SessionLabels(this.steady);
    this.limiter = new Limiter(clock);
    this.backoff = new Backoff(this.steady);
  }

  get tables(): readonly DeclaredTable[] {
    const { counters, labels, backoff, revocations, modes } = this;
    return [counters, labels, backoff, revocations, modes].map(({ table }) => table);
  }
}
