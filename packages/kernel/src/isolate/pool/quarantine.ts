import { limits } from "../../limits.ts";
import type { Hints } from "../../result.ts";
import type { RegisteredTool } from "../../tool/package.ts";
import type { Clock } from "../clock.ts";

interface Failures {
  readonly toolHash: string;
  readonly inARow: number;
  /** On the monotonic clock. */
  readonly untilMs: number;
}

/** Whose isolates failed: what one caller makes of a tool is not held against others. */
export interface Failing {
  readonly toolHash: string;
  readonly caller: string;
}

export interface Rest {
  readonly restMs: number;
  readonly failures: number;
}

/** Of one tool, for all its callers. */
export interface ToolQuarantine {
  /** For how many callers its isolates are not opened. */
  readonly callers: number;
  /** Until the last of them may call it again. */
  readonly retryAfterMs: number;
}

/**
 * Who failed again and again is not opened again at once: after the third failure in a row it waits for a second, and twice as long after each
 * further one. One success, and all is forgotten.
 */
export class Quarantine {
  readonly #clock: Clock;
  /** The longest ago first. */
  readonly #failures = new Map<string, Failures>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How long it has to wait still, and after how many failures; `undefined` when it may be opened. */
  rest(failing: Failing): Rest | undefined {
    const failed = this.#failures.get(keyOf(failing));
    const restMs = failed === undefined ? 0 : failed.untilMs - this.#clock.monotonicMs();
    return failed !== undefined && restMs > 0 ? { restMs, failures: failed.inARow } : undefined;
  }

  /** What begins with this failure, if anything does. */
  failed(failing: Failing): Rest | undefined {
    const key = keyOf(failing);
    const inARow = (this.#failures.get(key)?.inARow ?? 0) + 1;
    const doublings = inARow - limits.failuresInARow;
    const restMs = doublings < 0 ? 0 : Math.min(limits.quarantineMs * 2 ** doublings, limits.longestQuarantineMs);
    this.#failures.delete(key);
    this.#failures.set(key, { toolHash: failing.toolHash, inARow, untilMs: this.#clock.monotonicMs() + restMs });
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > limits.quarantines && oldest !== undefined) this.#failures.delete(oldest);
    return restMs > 0 ? { restMs, failures: inARow } : undefined;
  }

  succeeded(failing: Failing): void {
    if (this.#failures.size > 0) this.#failures.delete(keyOf(failing));
  }

  /** By the hash of the tool. */
  get tools(): ReadonlyMap<string, ToolQuarantine> {
    const tools = new Map<string, ToolQuarantine>();
    const nowMs = this.#clock.monotonicMs();
    for (const { toolHash, untilMs } of this.#failures.values()) {
      const { callers, retryAfterMs } = tools.get(toolHash) ?? { callers: 0, retryAfterMs: 0 };
      if (untilMs > nowMs)
        tools.set(toolHash, { callers: callers + 1, retryAfterMs: Math.max(retryAfterMs, untilMs - nowMs) });
    }
    return tools;
  }
}

/** What is the matter, and what to do. */
export function quarantineText(
  { id }: RegisteredTool,
  { restMs, failures }: Rest,
): readonly [message: string, hints: Partial<Hints>] {
  return [
    `${id} is in quarantine: its isolate failed ${failures} times in a row.`,
    {
      hint: `Try again in ${Math.ceil(restMs / 1000)} s.`,
      operatorHint: "Read in the host's log why the isolates fail.",
    },
  ];
}

const keyOf = ({ toolHash, caller }: Failing): string => `${toolHash} ${caller}`; // A digest has no space.
