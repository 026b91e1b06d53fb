import type { Failing, Rest } from "../backoff.ts";
import type { Hints } from "../../result.ts";
import type { RegisteredTool } from "../../tool/package.ts";
import type { Owner } from "./lease.ts";
import type { OwnIsolate } from "../bounded-call.ts";
import { IsolateFailure } from "../port.ts";

/**
 * The calls that an isolate's memory may serve. `always`: every call of its tool; only for tools
 * that are trusted to keep no data. `session`: one session of one caller. `call`: one call.
 */
export type Reuse = "always" | "session" | "call";

/** One isolate of a pool, from before it is open to its end. */
export interface Slot {
  key: string;
  readonly tool: RegisteredTool;
  /** Of the call that opened it, or woke it last. Failures under one caller do not count against others. */
  caller: string;
  reuse: Reuse;
  readonly thaw: Owner["thaw"];
  isolate: Promise<OwnIsolate>;
  /** Once `isolate` has resolved. */
  opened: OwnIsolate | undefined;
  calls: number;
  /** Those of them that run; only where places are bounded. */
  readonly callIds: string[];
  /** The number of calls that wait for it. Unused once it is open. */
  wanted: number;
  /** While it waits for a place: the way out. */
  leave: (() => void) | undefined;
  /** Gives its place back. */
  give: (() => void) | undefined;
  /** Whether the kernel ended it, and not it itself. */
  stopped: boolean;
}

/** Before it is open. One call waits for it. */
export function newSlot(key: string, tool: RegisteredTool, { caller, thaw }: Owner, reuse: Reuse): Slot {
  return {
    key,
    tool,
    caller,
    reuse,
    thaw,
    isolate: unopened,
    opened: undefined,
    calls: 0,
    callIds: [],
    wanted: 1,
    leave: undefined,
    give: undefined,
    stopped: false,
  };
}

const unopened = new Promise<never>(() => {});

export function nobodyWaits(): IsolateFailure {
  return new IsolateFailure("ISOLATE_LOST", "No call waits for this isolate.", {}, "host");
}

/** Whether an isolate that could not be opened counts against its tool. */
export function isToolsFault(error: unknown): error is IsolateFailure {
  return error instanceof IsolateFailure && error.code !== "UNSUPPORTED_HOST" && error.blame !== "host";
}

/**
 * The owner of a failed isolate. A tool whose calls bring programs fails as one: as many programs as calls would never make three in a row. An error in the code of one says nothing
 * about the others.
 */
export function failingOf({ hash, composedOf = hash }: RegisteredTool, caller: string, blame?: "code"): Failing {
  return { cause: "isolates", toolHash: blame ? hash : composedOf, caller };
}

/** All that succeeds with an isolate, and has to rest before the next one. */
export function allOf(tool: RegisteredTool, caller: string): readonly Failing[] {
  const own = failingOf(tool, caller, "code");
  return tool.composedOf === undefined ? [own] : [own, failingOf(tool, caller)];
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
