import type { Machine } from "../machine/machine.ts";
import type { ReplayJournal } from "../machine/replay-journal.ts";
import { errno } from "./names.ts";

const REALTIME = 0;
const CLOCKS = 4;
const NANOSECONDS = 1_000_000n;

/** Subscriptions of one `poll_oneoff`. */
const MAX_SUBSCRIPTIONS = 64;
const SUBSCRIPTION_BYTES = 48;
const EVENT_BYTES = 32;
const CLOCK_EVENT = 0;
const ABSOLUTE = 1;

/**
 * The time of one run. A logical clock stands still, except that who sleeps until a time finds it to be that time, at once. A real one is the
 * platform's, and a sleep is one.
 */
export class RunClock {
  readonly #journal: ReplayJournal;
  readonly #now: () => number;
  readonly #isReal: boolean;
  readonly #startMs: number;
  #sleptNs = 0n;

  constructor(journal: ReplayJournal, now: () => number, isReal: boolean) {
    this.#journal = journal;
    this.#isReal = isReal;
    this.#now = isReal ? () => journal.observe(now) : now;
    this.#startMs = this.#now();
  }

  /** Nanoseconds: since the epoch on the clock 0, since the run's start on the others. */
  read(clock: number): bigint {
    const ms = this.#isReal || clock === REALTIME ? this.#now() : this.#startMs;
    const sinceEpoch = BigInt(Math.floor(ms)) * NANOSECONDS + this.#sleptNs;
    return clock === REALTIME ? sinceEpoch : sinceEpoch - BigInt(Math.floor(this.#startMs)) * NANOSECONDS;
  }

  sleep(ns: bigint): void {
    if (ns <= 0n) return;
    if (!this.#isReal) this.#sleptNs += ns;
    else this.#journal.ask(() => new Promise<void>((resolve) => setTimeout(resolve, Number(ns / NANOSECONDS))));
  }
}

type WasiFunction = (...values: number[]) => number;

export function clockFunctions(machine: Machine, clock: RunClock): Readonly<Record<string, WasiFunction>> {
  const view = (): DataView => new DataView(machine.bytes().buffer);
  return {
    clock_res_get(id, at) {
      if (id >= CLOCKS) return errno.inval;
      view().setBigUint64(at, NANOSECONDS, true);
      return errno.success;
    },
    // The second parameter says how exact it has to be, and it is an i64.
    clock_time_get(id, _precision, at) {
      if (id >= CLOCKS) return errno.inval;
      view().setBigUint64(at, clock.read(id), true);
      return errno.success;
    },
    poll_oneoff: (from, to, count, countAt) => poll(view(), clock, from >>> 0, to >>> 0, count >>> 0, countAt >>> 0),
    sched_yield: () => errno.success,
  };
}

/** Streams and files are always ready. Where only clocks are asked for, the earliest one rings. */
function poll(view: DataView, clock: RunClock, from: number, to: number, count: number, countAt: number): number {
  if (count === 0 || count > MAX_SUBSCRIPTIONS) return errno.inval;
  const wanted = Array.from({ length: count }, (_, i) => readSubscription(view, from + i * SUBSCRIPTION_BYTES, clock));
  const ready = wanted.filter(({ inNs }) => inNs === undefined);
  const soonest = wanted.reduce<bigint>(
    (least, { inNs }) => (inNs !== undefined && inNs < least ? inNs : least),
    2n ** 63n,
  );
  if (ready.length === 0) clock.sleep(soonest);
  const events = ready.length > 0 ? ready : wanted.filter(({ inNs }) => inNs === soonest);
  for (const [i, { userData, type }] of events.entries()) {
    const at = to + i * EVENT_BYTES;
    for (let offset = 0; offset < EVENT_BYTES; offset += 8) view.setBigUint64(at + offset, 0n, true);
    view.setBigUint64(at, userData, true);
    view.setUint8(at + 10, type);
  }
  view.setUint32(countAt, events.length, true);
  return errno.success;
}

interface Subscription {
  readonly userData: bigint;
  readonly type: number;
  /** How long until it is due; `undefined` for what is ready. */
  readonly inNs: bigint | undefined;
}

function readSubscription(view: DataView, at: number, clock: RunClock): Subscription {
  const userData = view.getBigUint64(at, true);
  const type = view.getUint8(at + 8);
  if (type !== CLOCK_EVENT) return { userData, type, inNs: undefined };
  const id = view.getUint32(at + 16, true);
  const timeout = view.getBigUint64(at + 24, true);
  const isAbsolute = (view.getUint16(at + 40, true) & ABSOLUTE) !== 0;
  const inNs = isAbsolute ? timeout - clock.read(id) : timeout;
  return { userData, type, inNs: inNs > 0n ? inNs : 0n };
}
