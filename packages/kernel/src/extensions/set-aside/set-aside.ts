import { kernelScope } from "../../audit/scope.ts";
import { CallFault } from "../../call/faults/fault.ts";
import type { Started } from "../../call/steps/start.ts";
import * as limits from "../../limits.ts";
import { type JsonValue, isJsonArray } from "../../json/json.ts";
import type { DeclaredTable } from "../../state/change.ts";
import { StateTable } from "../../state/table.ts";
import { hasOwn } from "../../support/guards.ts";
import type { Extension, ExtensionContext } from "../extension.ts";

interface TimeoutsRow {
  readonly timeouts: number;
  /** Since the epoch. */
  readonly lastMs: number;
  readonly untilMs: number;
  /** Of a tool: the callers of the last timeouts that counted, the latest first. */
  readonly callers: readonly string[];
}

type Subject = Pick<Started, "call" | "tool">;

/** The subject of a count of timeouts: a tool for all callers, or a tool for one caller. */
interface Key {
  readonly toolHash: string;
  readonly caller?: string | undefined;
}

/**
 * A tool that times out again and again is not started for a while, which grows: each time it holds a slot, and on some hosts all that runs beside it, for as long as its
 * deadline. It is set aside for its caller first: slow input, or a slow server, can be that caller's matter. Timeouts of several callers in a row set it aside for all. A call that ends well makes up for one timeout. A tool whose isolate was lost, or whose call waited longer than it ran, has done nothing to be set aside for.
 */
export function setAside(): Extension {
  return new SetAside();
}

class SetAside implements Extension {
  readonly name = "set-aside";
  readonly #rows = new StateTable<TimeoutsRow>({
    name: "set-aside.timeouts",
    version: 1,
    maxRows: limits.setAsides,
    whenFull: "forget-oldest",
    untilMs: ({ lastMs }) => lastMs + limits.forgottenTimeoutMs,
    writtenMs: ({ lastMs }) => lastMs,
    codec: {
      encode: ({ timeouts, lastMs, untilMs, callers }) => [timeouts, lastMs, untilMs, ...callers],
      decode: readRow,
    },
  });
  readonly state: readonly DeclaredTable[] = [this.#rows];
  #context!: ExtensionContext;

  open(context: ExtensionContext): void {
    this.#context = context;
  }

  async aroundRun(
    started: Started,
    attempt: Parameters<NonNullable<Extension["aroundRun"]>>[1],
  ): ReturnType<typeof attempt> {
    // It may have waited for its slot while others timed out.
    this.afterAllow(started);
    try {
      const checked = await attempt(started);
      for (const key of this.#keysOf(started)) this.#madeUp(key);
      return checked;
    } catch (thrown) {
      if (isTimeout(thrown)) {
        this.#timedOut(ownKey(started), started);
        if (!isCallersMatter(started)) this.#timedOutForAll(started);
      }
      throw thrown;
    }
  }

  /** None, where no tool has timed out. */
  #keysOf(subject: Subject): readonly Key[] {
    return this.#rows.size > 0 ? [{ toolHash: subject.tool.hash }, ownKey(subject)] : [];
  }

  afterAllow(subject: Subject): undefined {
    const { tool } = subject;
    for (const key of this.#keysOf(subject)) {
      const row = this.#rowOf(key);
      const retryAfterMs = row === undefined ? 0 : row.untilMs - this.#context.steady.now();
      if (row === undefined || retryAfterMs <= 0) continue;
      throw new CallFault("TOOL_SET_ASIDE", `${tool.id} is set aside: it timed out ${row.timeouts} times in a row.`, {
        details: { timeouts: row.timeouts, retryAfterMs },
        hint: `Try again in ${Math.ceil(retryAfterMs / 1_000)} s.`,
        retryable: true,
      });
    }
  }

  #rowOf(key: Key): TimeoutsRow | undefined {
    const row = this.#rows.get(textOf(key));
    return row && this.#context.steady.now() - row.lastMs < limits.forgottenTimeoutMs ? row : undefined;
  }

  #madeUp(key: Key): void {
    const row = this.#rowOf(key);
    const isGone = !row || row.timeouts === 1;
    const changes = isGone
      ? this.#rows.remove(textOf(key))
      : this.#rows.put(textOf(key), { ...row, timeouts: row.timeouts - 1 });
    // With the end of the call.
    this.#context.log.changeNow(changes);
  }

  /** Counts callers: so many timeouts in a row as set a tool aside are those of as many callers. */
  #timedOutForAll(started: Started): void {
    const { call, tool } = started;
    const callers = this.#rowOf({ toolHash: tool.hash })?.callers ?? [];
    if (callers.includes(call.caller)) return;
    this.#timedOut({ toolHash: tool.hash }, started, [call.caller, ...callers].slice(0, limits.timeoutsInARow - 1));
  }

  #timedOut(key: Key, { tool, bounds }: Started, callers: readonly string[] = []): void {
    const { steady, log } = this.#context;
    const timeouts = (this.#rowOf(key)?.timeouts ?? 0) + 1;
    const doublings = timeouts - limits.timeoutsInARow;
    const firstMs = Math.max(limits.setAsideMs, bounds.timeoutMs);
    const restMs = doublings < 0 ? 0 : Math.min(firstMs * 2 ** doublings, limits.longestSetAsideMs);
    const lastMs = steady.now();
    log.changeNow(this.#rows.put(textOf(key), { timeouts, lastMs, untilMs: lastMs + restMs, callers }));
    if (restMs === 0) return;
    log.record("tool.quarantined", kernelScope, {
      tool: tool.id,
      toolHash: tool.hash,
      ...(key.caller !== undefined && { caller: key.caller }),
      cause: "timeouts",
      failures: timeouts,
      restMs,
    });
  }
}

function readRow(value: JsonValue): TimeoutsRow | undefined {
  const [timeouts, lastMs, untilMs, ...callers] = isJsonArray(value) ? value : [];
  const isRead = typeof timeouts === "number" && typeof lastMs === "number" && typeof untilMs === "number";
  if (!isRead || !callers.every((caller) => typeof caller === "string")) return undefined;
  return { timeouts, lastMs, untilMs, callers };
}

/** The deadline of a tool that ran: a call that its host kept waiting for longer says nothing about it. */
function isTimeout(thrown: unknown): boolean {
  if (!(thrown instanceof CallFault) || thrown.code !== "TIMEOUT") return false;
  const { details } = thrown.error;
  return !(details instanceof Object && hasOwn(details, "waitedMs"));
}

/** A caller that lowers the deadline, sends slowly, takes slowly or brings the program can let any tool time out. */
function isCallersMatter({ call, tool, body, flow }: Started): boolean {
  const brings = body !== undefined || flow !== undefined || tool.manifest.program !== undefined;
  return brings || call.options.bounds?.timeoutMs !== undefined;
}

const ownKey = ({ call, tool }: Subject): Key => ({ toolHash: tool.hash, caller: call.caller });

/** The caller comes first: it owns the row. */
const textOf = ({ toolHash, caller }: Key): string =>
  caller === undefined ? toolHash : JSON.stringify([caller, toolHash]);
