import type { Clock } from "../../isolate/clock.ts";
import type { ErrorCode } from "../../result.ts";
import type { Mode } from "../../tool/manifest.ts";
import { isStricter } from "../../tool/modes.ts";

/** When the kernel changes its mode by itself. It only ever goes to a stricter one; the way back is a person's. */
export type ModeTrigger =
  /** So many calls ended with one of the codes within a window: `["OUT_OF_MEMORY", "OUT_OF_FUEL", "TIMEOUT", "ISOLATE_LOST"]` for short resources. */
  | {
      readonly on: "errors";
      readonly codes: readonly ErrorCode[];
      readonly count: number;
      readonly windowMs: number;
      readonly to: Mode;
    }
  /** At least `minCalls` calls ran within a window, and the share of them that failed reached `ratio` (0 to 1). Cancelled calls are no failures. */
  | {
      readonly on: "failure-rate";
      readonly ratio: number;
      readonly minCalls: number;
      readonly windowMs: number;
      readonly to: Mode;
    }
  | ResourceTrigger;

/** A resource is short, or at its end. */
export type ResourceTrigger =
  /** The storage of the log said that it has no space. With `freeBytes` also: fewer bytes are free, by `resources.freeSpaceBytes`. */
  | { readonly on: "space"; readonly freeBytes?: number; readonly to: Mode }
  /** Fewer bytes are free, by `resources.freeMemoryBytes`. */
  | { readonly on: "memory"; readonly freeBytes: number; readonly to: Mode }
  /** At least so many recorded events are not yet durable. */
  | { readonly on: "backlog"; readonly events: number; readonly to: Mode };

type EndTrigger = Exclude<ModeTrigger, ResourceTrigger>;

export interface Transition {
  readonly to: Mode;
  readonly reason: string;
}

interface End {
  readonly atMs: number;
  readonly isHit: boolean;
}

/** Ends that one trigger remembers; of more, the latest. */
const memory = 10_000;

/** Watches how calls end and says when a trigger fires. */
export class ModeTriggers {
  readonly #clock: Clock;
  readonly #watched: readonly { readonly trigger: EndTrigger; ends: End[] }[];

  constructor(triggers: readonly EndTrigger[], clock: Clock) {
    this.#clock = clock;
    this.#watched = triggers.map((trigger) => ({ trigger, ends: [] }));
  }

  /** `code` is `undefined` for a call that gave a result. The first trigger that fires to a mode stricter than `mode` counts. */
  ended(mode: Mode, code: ErrorCode | undefined, hasRun: boolean): Transition | undefined {
    const atMs = this.#clock.monotonicMs();
    let fired: Transition | undefined;
    for (const watched of this.#watched) {
      const { trigger } = watched;
      if (trigger.on === "errors" ? code === undefined || !trigger.codes.includes(code) : !hasRun) continue;
      watched.ends = [
        ...watched.ends.slice(1 - memory),
        { atMs, isHit: code !== undefined && code !== "CANCELLED" },
      ].filter((end) => end.atMs > atMs - trigger.windowMs);
      const reason = reasonOf(trigger, watched.ends);
      if (reason === undefined) continue;
      if (!fired && isStricter(trigger.to, mode)) fired = { to: trigger.to, reason };
      watched.ends = [];
    }
    return fired;
  }
}

function reasonOf(trigger: EndTrigger, ends: readonly End[]): string | undefined {
  const within = `within ${trigger.windowMs / 1_000} s`;
  if (trigger.on === "errors")
    return ends.length >= trigger.count
      ? `${ends.length} calls ended with ${trigger.codes.join(", ")} ${within}.`
      : undefined;
  const failed = ends.filter(({ isHit }) => isHit).length;
  return ends.length >= trigger.minCalls && failed >= ends.length * trigger.ratio
    ? `${failed} of ${ends.length} calls failed ${within}.`
    : undefined;
}
