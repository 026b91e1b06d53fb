import type { Clock } from "../../isolate/clock.ts";
import type { Mode } from "../../tool/manifest.ts";
import { isStricter } from "../../tool/modes.ts";
import type { ResourceTrigger, Transition } from "./triggers.ts";

/**
 * Gauges of the free resources of a kernel. A gauge that fails, or returns no number, counts as
 * unknown.
 */
export interface Resources {
  /** Bytes that the storage of the log can still take. */
  freeSpaceBytes?(): number | undefined | Promise<number | undefined>;
  /** Bytes that the process can still take. */
  freeMemoryBytes?(): number | undefined | Promise<number | undefined>;
}

/** Of a log. */
export interface LogPressure {
  /** Events that wait to be durable. */
  readonly backlog: number;
  readonly pressure: { takeOutOfSpace(): boolean };
}

const gauges = { space: "freeSpaceBytes", memory: "freeMemoryBytes" } as const;
type Gauge = keyof typeof gauges;

/** The kernel reads gauges at most so often. */
const lookEveryMs = 10_000;

/** Watches the resources of a kernel and says when a trigger fires. */
export class ResourceWatch {
  readonly #triggers: readonly ResourceTrigger[];
  readonly #resources: Resources;
  readonly #clock: Clock;
  readonly #free = new Map<Gauge, number>();
  #measuredAtMs = -Infinity;

  /** @throws TypeError for a trigger without its gauge: it would never fire */
  constructor(triggers: readonly ResourceTrigger[], resources: Resources, clock: Clock) {
    this.#triggers = triggers;
    this.#resources = resources;
    this.#clock = clock;
    for (const trigger of triggers) {
      if (trigger.on === "backlog" || trigger.freeBytes === undefined) continue;
      const gauge = gauges[trigger.on];
      if (typeof resources[gauge] !== "function")
        throw new TypeError(`A trigger on ${trigger.on} with \`freeBytes\` needs \`resources.${gauge}\`.`);
    }
  }

  /** Reads the gauges, where that was long enough ago. */
  async measure(): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#measuredAtMs < lookEveryMs) return;
    this.#measuredAtMs = nowMs;
    await Promise.all((Object.keys(gauges) as Gauge[]).map((each) => this.#read(each)));
  }

  /** The transition by the last values. The strictest mode counts. */
  fired(mode: Mode, log: LogPressure): Transition | undefined {
    const isOutOfSpace = log.pressure.takeOutOfSpace();
    let fired: Transition | undefined;
    for (const trigger of this.#triggers) {
      if (!isStricter(trigger.to, fired?.to ?? mode)) continue;
      const reason = this.#reasonOf(trigger, log.backlog, isOutOfSpace);
      if (reason !== undefined) fired = { to: trigger.to, reason };
    }
    return fired;
  }

  #reasonOf(trigger: ResourceTrigger, backlog: number, isOutOfSpace: boolean): string | undefined {
    if (trigger.on === "backlog") return backlog >= trigger.events ? `${backlog} events wait for the log.` : undefined;
    if (trigger.on === "space" && isOutOfSpace) return "The storage of the log said that it has no space.";
    const { on, freeBytes = 0 } = trigger;
    const free = this.#free.get(on) ?? Infinity;
    const of = on === "space" ? "The storage of the log" : "The memory";
    return free < freeBytes ? `${of} has ${free} bytes free, fewer than ${freeBytes}.` : undefined;
  }

  async #read(gauge: Gauge): Promise<void> {
    if (!this.#triggers.some(({ on }) => on === gauge)) return;
    this.#free.delete(gauge);
    try {
      const free: unknown = await this.#resources[gauges[gauge]]?.();
      // Browsers say nothing, or nonsense, about their storage.
      if (typeof free === "number" && free >= 0) this.#free.set(gauge, Math.floor(free));
    } catch {
      // It says nothing.
    }
  }
}
