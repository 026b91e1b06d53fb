import * as limits from "../../limits.ts";
import type { Hints } from "../../result.ts";
import type { RegisteredTool } from "../../tool/package.ts";
import { type JsonValue, isJsonArray } from "../../json/json.ts";
import { noChanges, type StateChange } from "../../state/change.ts";
import type { SteadyClock } from "../../state/steady-clock.ts";
import { StateTable } from "../../state/table.ts";

interface Failures extends Rest {
  readonly toolHash: string;
  /** Since the epoch. */
  readonly untilMs: number;
}

/** The owner of failed isolates: failures under one caller do not count against others. */
export interface Failing {
  readonly toolHash: string;
  readonly caller: string;
}

export interface Rest {
  readonly restMs: number;
  readonly failures: number;
}

/** A failure after which the kernel opens no isolate for a while. */
export interface QuarantineBegun extends Rest {
  /** Where one failure is enough: it cannot be an accident. */
  readonly cause?: "went-on";
  /** For its event. */
  readonly changes: readonly StateChange[];
}

/** Of one tool, for all its callers. */
export interface ToolQuarantine {
  /** The number of callers for whom the kernel opens none of its isolates. */
  readonly callers: number;
  /** Until the last of them may call it again. */
  readonly retryAfterMs: number;
}

/**
 * Delays the next isolate of an owner that fails repeatedly: one second after the third failure in
 * a row, and twice as long after each further one. One success resets it.
 */
export class Quarantine {
  readonly #clock: SteadyClock;
  readonly table: StateTable<Failures> = new StateTable<Failures>({
    name: "isolates.quarantine",
    version: 1,
    maxRows: limits.quarantines,
    whenFull: "forget-oldest",
    untilMs: ({ untilMs }) => untilMs + limits.quarantineKeptMs,
    writtenMs: ({ untilMs, restMs }) => untilMs - restMs,
    codec: {
      encode: ({ toolHash, failures, restMs, untilMs }) => [toolHash, failures, restMs, untilMs],
      decode: readRow,
    },
  });
  /** Failure counts below the limit, the oldest first. The log does not have them. */
  readonly #few = new Map<string, number>();

  constructor(clock: SteadyClock) {
    this.#clock = clock;
  }

  /** How long it has to wait still, and after how many failures; `undefined` when it may be opened. */
  rest(failing: Failing): Rest | undefined {
    const failed = this.table.get(keyOf(failing));
    const restMs = failed === undefined ? 0 : failed.untilMs - this.#clock.now();
    return failed !== undefined && restMs > 0 ? { restMs, failures: failed.failures } : undefined;
  }

  /** The quarantine that begins with this failure, if any. */
  failed(failing: Failing, cause?: QuarantineBegun["cause"]): QuarantineBegun | undefined {
    const key = keyOf(failing);
    const failures = (this.table.get(key)?.failures ?? this.#few.get(key) ?? 0) + 1;
    this.#few.delete(key);
    if (failures < limits.failuresInARow && !cause) {
      this.#few.set(key, failures);
      const [oldest] = this.#few.keys();
      if (this.#few.size > limits.quarantines && oldest !== undefined) this.#few.delete(oldest);
      return undefined;
    }
    const doublings = Math.max(0, failures - limits.failuresInARow);
    const restMs = Math.min(limits.quarantineMs * 2 ** doublings, limits.longestQuarantineMs);
    const untilMs = this.#clock.now() + restMs;
    const changes = this.table.put(key, { toolHash: failing.toolHash, failures, restMs, untilMs });
    return { restMs, failures, changes, ...(cause && { cause }) };
  }

  /** The changes that end a quarantine with this success, for the next event. */
  succeeded(failing: Failing): readonly StateChange[] {
    if (this.#few.size > 0) this.#few.delete(keyOf(failing));
    return this.table.size > 0 ? this.table.remove(keyOf(failing)) : noChanges;
  }

  /** By the hash of the tool. */
  get tools(): ReadonlyMap<string, ToolQuarantine> {
    const tools = new Map<string, ToolQuarantine>();
    const nowMs = this.#clock.now();
    for (const [, { toolHash, untilMs }] of this.table.entries()) {
      const { callers, retryAfterMs } = tools.get(toolHash) ?? { callers: 0, retryAfterMs: 0 };
      if (untilMs > nowMs)
        tools.set(toolHash, { callers: callers + 1, retryAfterMs: Math.max(retryAfterMs, untilMs - nowMs) });
    }
    return tools;
  }
}

function readRow(value: JsonValue): Failures | undefined {
  const [toolHash, failures, restMs, untilMs] = isJsonArray(value) ? value : [];
  const isRead =
    typeof toolHash === "string" &&
    typeof failures === "number" &&
    typeof restMs === "number" &&
    typeof untilMs === "number";
  return isRead ? { toolHash, failures, restMs, untilMs } : undefined;
}

/** The message and the hints of a quarantine. */
export function quarantineText(
  { id }: RegisteredTool,
  { restMs, failures }: Rest,
): readonly [message: string, hints: Partial<Hints>] {
  return [
    `${id} is in quarantine: its isolate failed ${failures === 1 ? "once" : `${failures} times in a row`}.`,
    {
      hint: `Try again in ${Math.ceil(restMs / 1000)} s.`,
      operatorHint: "Read in the host's log why the isolates fail.",
    },
  ];
}

/** The caller comes first: it owns the row. */
const keyOf = ({ toolHash, caller }: Failing): string => JSON.stringify([caller, toolHash]);
