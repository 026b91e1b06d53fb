import * as limits from "../limits.ts";
import { type JsonValue, isJsonArray } from "../json/json.ts";
import type { StateChange } from "../state/change.ts";
import type { SteadyClock } from "../state/steady-clock.ts";
import { StateTable } from "../state/table.ts";
import { hasOwn } from "../support/guards.ts";

/** `isolates` that died or could not be opened; `timeouts` of calls. */
type Cause = "isolates" | "timeouts";

/** A tool for one caller: failures under one do not count against others. Without a caller, for all. */
export interface Failing {
  readonly cause: Cause;
  readonly toolHash: string;
  readonly caller?: string | undefined;
}

export interface Rest {
  readonly restMs: number;
  readonly failures: number;
}

/** A rest as its event tells it. */
interface RestBegun extends Rest {
  readonly tool: string;
  readonly toolHash: string;
  readonly caller?: string;
  readonly cause?: "timeouts" | "went-on";
}

/** Puts changes on record: with the rest that begins, or with the next event. */
export type BackoffLog = (changes: readonly StateChange[], rest?: RestBegun) => void;

/** More about one failure. */
export interface Failure {
  /** Where one failure is enough: it cannot be an accident. */
  readonly wentOn?: boolean;
  readonly firstMs?: number;
  /** Of a tool for all: who saw it fail. So many failures as make it rest are those of as many callers. */
  readonly seenBy?: string;
}

/** Of one tool, for all its callers. */
export interface ToolQuarantine {
  /** The number of callers for whom the kernel opens none of its isolates. */
  readonly callers: number;
  /** Until the last of them may call it again. */
  readonly retryAfterMs: number;
}

interface Row {
  readonly cause: Cause;
  readonly toolHash: string;
  readonly failures: number;
  /** Since the epoch: the last failure, and the end of the rest after it. */
  readonly failedMs: number;
  readonly untilMs: number;
  /** Callers that saw the last failures, the latest first. */
  readonly callers: readonly string[];
}

/** `forgives`: so many failures for one success. */
const rules = {
  isolates: { longestMs: limits.longestQuarantineMs, forgives: Infinity },
  timeouts: { longestMs: limits.longestSetAsideMs, forgives: 1 },
} satisfies Record<Cause, { readonly longestMs: number; readonly forgives: number }>;

const forgottenMs = ({ untilMs }: Row): number => untilMs + limits.quarantineKeptMs;

/**
 * Lets a tool rest that fails again and again: with the third failure in a row, and twice as long with each further one. It is the only answer to a tool that misbehaves; a cause
 * has its longest rest, and what a success makes up for.
 */
export class Backoff {
  readonly #clock: SteadyClock;
  #log!: BackoffLog;
  readonly table: StateTable<Row> = new StateTable<Row>({
    name: "tools.backoff",
    version: 1,
    maxRows: limits.quarantines,
    whenFull: "forget-oldest",
    untilMs: forgottenMs,
    writtenMs: ({ failedMs }) => failedMs,
    codec: {
      encode: (row) => [row.cause, row.toolHash, row.failures, row.failedMs, row.untilMs, ...row.callers],
      decode: readRow,
    },
  });

  constructor(clock: SteadyClock) {
    this.#clock = clock;
  }

  /** Before the first call: its rows are there before the log is. */
  open(log: BackoffLog): void {
    this.#log = log;
  }

  /** How long the first of them that rests does so still. */
  rest(all: readonly Failing[]): Rest | undefined {
    if (this.table.size === 0) return undefined;
    for (const failing of all) {
      const { untilMs = 0, failures = 0 } = this.#rowOf(failing) ?? {};
      const restMs = untilMs - this.#clock.now();
      if (restMs > 0) return { restMs, failures };
    }
    return undefined;
  }

  /** @param tool `name@version`, for the event of the rest that begins */
  failed(tool: string, failing: Failing, { wentOn, firstMs = 0, seenBy }: Failure = {}): void {
    const { cause, toolHash, caller } = failing;
    const { failures: before = 0, callers = [] } = this.#rowOf(failing) ?? {};
    if (seenBy !== undefined && callers.includes(seenBy)) return;
    const failures = before + 1;
    const doublings = Math.max(0, failures - limits.failuresInARow);
    const longMs = Math.min(Math.max(limits.quarantineMs, firstMs) * 2 ** doublings, rules[cause].longestMs);
    const restMs = wentOn || failures >= limits.failuresInARow ? longMs : 0;
    const failedMs = this.#clock.now();
    const row = { cause, toolHash, failures, failedMs, untilMs: failedMs + restMs };
    const seen = seenBy === undefined ? [] : [seenBy, ...callers].slice(0, limits.failuresInARow - 1);
    const changes = this.table.put(keyOf(failing), { ...row, callers: seen });
    if (restMs === 0) return this.#log(changes);
    const told = wentOn ? ({ cause: "went-on" } as const) : cause === "timeouts" ? { cause } : {};
    this.#log(changes, { tool, toolHash, ...(caller !== undefined && { caller }), ...told, failures, restMs });
  }

  succeeded(all: readonly Failing[]): void {
    if (this.table.size === 0) return;
    for (const failing of all) {
      const key = keyOf(failing);
      const row = this.#rowOf(failing);
      const failures = row ? row.failures - rules[row.cause].forgives : 0;
      this.#log(row && failures > 0 ? this.table.put(key, { ...row, failures }) : this.table.remove(key));
    }
  }

  /** By the hash of the tool. */
  get quarantined(): ReadonlyMap<string, ToolQuarantine> {
    const tools = new Map<string, ToolQuarantine>();
    const nowMs = this.#clock.now();
    for (const [, { cause, toolHash, untilMs }] of this.table.entries()) {
      if (cause !== "isolates" || untilMs <= nowMs) continue;
      const { callers, retryAfterMs } = tools.get(toolHash) ?? { callers: 0, retryAfterMs: 0 };
      tools.set(toolHash, { callers: callers + 1, retryAfterMs: Math.max(retryAfterMs, untilMs - nowMs) });
    }
    return tools;
  }

  #rowOf(failing: Failing): Row | undefined {
    const row = this.table.get(keyOf(failing));
    return row && forgottenMs(row) > this.#clock.now() ? row : undefined;
  }
}

function readRow(value: JsonValue): Row | undefined {
  const [cause, toolHash, failures, failedMs, untilMs, ...callers] = isJsonArray(value) ? value : [];
  const isRead =
    isCause(cause) &&
    typeof toolHash === "string" &&
    typeof failures === "number" &&
    typeof failedMs === "number" &&
    typeof untilMs === "number" &&
    callers.every((caller) => typeof caller === "string");
  return isRead ? { cause, toolHash, failures, failedMs, untilMs, callers } : undefined;
}

const isCause = (value: JsonValue | undefined): value is Cause => typeof value === "string" && hasOwn(rules, value);

/** The caller comes first: it owns the row. */
const keyOf = ({ cause, toolHash, caller }: Failing): string => JSON.stringify([caller ?? null, toolHash, cause]);
