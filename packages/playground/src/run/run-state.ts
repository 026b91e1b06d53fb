import type { AuditEvent, CallResult, JsonValue, LogEntry, Progress, ToolSummary } from "@keyhole/kernel";
import type { ClientFault } from "../client/kernel-client.ts";
import type { Verification } from "../client/verify-answer.ts";

/** One call as the page shows it, from the press of Run to its end. */
export type Run =
  | { readonly phase: "idle" }
  | (Trace & {
      readonly phase: "running";
      readonly cancelling: boolean;
      /** Bytes of the tool's stream that came so far. */ readonly received: (() => number) | undefined;
    })
  | (Trace & {
      readonly phase: "done";
      readonly result: CallResult;
      /** Absent where the kernel is the page's own. */
      readonly verification?: Verification | undefined;
      /** What it streamed. */ readonly file: Blob | undefined;
    })
  | (Trace & { readonly phase: "broken"; readonly fault: ClientFault });

/** What a call left so far. */
export interface Trace {
  readonly tool: ToolSummary;
  /** As the person sent it. */
  readonly input: JsonValue;
  /** Milliseconds since the epoch, of this page. */
  readonly startedAt: number;
  readonly events: readonly AuditEvent[];
  readonly logs: readonly LogEntry[];
  readonly progress: Progress | undefined;
}

export type ActiveRun = Exclude<Run, { phase: "idle" }>;

export type RunAction =
  | {
      readonly type: "start";
      readonly tool: ToolSummary;
      readonly input: JsonValue;
      readonly at: number;
      readonly received: (() => number) | undefined;
    }
  | { readonly type: "event"; readonly event: AuditEvent }
  | { readonly type: "log"; readonly entry: LogEntry }
  | { readonly type: "progress"; readonly progress: Progress }
  | { readonly type: "cancel" }
  | {
      readonly type: "done";
      readonly result: CallResult;
      readonly verification?: Verification | undefined;
      readonly file: Blob | undefined;
    }
  | { readonly type: "broken"; readonly fault: ClientFault }
  | { readonly type: "clear" };

export const idle: Run = { phase: "idle" };

/** Events may come a moment after the result: another port carries them. */
export function reduceRun(run: Run, action: RunAction): Run {
  if (action.type === "clear") return idle;
  if (action.type === "start") {
    const { tool, input, at: startedAt, received } = action;
    const trace: Trace = { tool, input, startedAt, events: [], logs: [], progress: undefined };
    return { ...trace, phase: "running", cancelling: false, received };
  }
  if (run.phase === "idle") return run;
  switch (action.type) {
    case "event":
      return { ...run, events: inOrder(run.events, action.event) };
    case "log":
      return { ...run, logs: [...run.logs, action.entry] };
    case "progress":
      return { ...run, progress: action.progress };
    case "cancel":
      return run.phase === "running" ? { ...run, cancelling: true } : run;
    case "done":
      return {
        ...traceOf(run),
        phase: "done",
        result: action.result,
        verification: action.verification,
        file: action.file,
      };
    case "broken":
      return { ...traceOf(run), phase: "broken", fault: action.fault };
  }
}

function inOrder(events: readonly AuditEvent[], event: AuditEvent): readonly AuditEvent[] {
  if (events.some(({ id }) => id === event.id)) return events;
  return [...events, event].sort((a, b) => a.seq - b.seq);
}

function traceOf({ tool, input, startedAt, events, logs, progress }: Trace): Trace {
  return { tool, input, startedAt, events, logs, progress };
}
