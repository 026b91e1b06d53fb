import type { AuditEvent, CallResult, JsonValue, LogEntry, Progress, ToolSummary } from "@keyhole/kernel";
import type { RunEntry } from "@keyhole/kernel/replay";
import type { ClientFault } from "../client/kernel-client.ts";
import type { Verification } from "@keyhole/worker-host/edge-protocol";

/** One call as the page shows it, from the press of Run to its end. */
export type ActiveRun =
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
      /** The streamed output. */ readonly file: Blob | undefined;
      /** For a replay of the call. */
      readonly recorded?: readonly RunEntry[] | undefined;
      /** Sentences about what was too large for the session. */
      readonly unkept?: readonly string[];
    })
  | (Trace & { readonly phase: "broken"; readonly fault: ClientFault });

/** The results of a call so far. */
export interface Trace {
  readonly tool: ToolSummary;
  /** As the person sent it, or as the last edit of an approver has it. `null` where an approver elsewhere wrote it. */
  readonly input: JsonValue;
  /** Milliseconds since the epoch, of this page. */
  readonly startedAt: number;
  readonly events: readonly AuditEvent[];
  readonly logs: readonly LogEntry[];
  readonly progress: Progress | undefined;
}

export type RunAction =
  | { readonly type: "events"; readonly events: readonly AuditEvent[] }
  | { readonly type: "logs"; readonly entries: readonly LogEntry[] }
  | { readonly type: "progress"; readonly progress: Progress }
  | { readonly type: "edited"; readonly input: JsonValue }
  | { readonly type: "cancel" }
  | {
      readonly type: "done";
      readonly result: CallResult;
      readonly verification?: Verification | undefined;
      readonly file: Blob | undefined;
      readonly recorded?: readonly RunEntry[] | undefined;
    }
  | { readonly type: "broken"; readonly fault: ClientFault };

/** @param received bytes of the tool's stream that came so far */
export function startRun(
  { tool, input, startedAt }: Pick<Trace, "tool" | "input" | "startedAt">,
  received: (() => number) | undefined,
): ActiveRun {
  const trace = { tool, input, startedAt, events: [], logs: [], progress: undefined };
  return { ...trace, phase: "running", cancelling: false, received };
}

/** Events may come a moment after the result: another port carries them. */
export function reduceRun(run: ActiveRun, action: RunAction): ActiveRun {
  switch (action.type) {
    case "events":
      return { ...run, events: inOrder(run.events, action.events) };
    case "logs":
      return { ...run, logs: [...run.logs, ...action.entries] };
    case "progress":
      return { ...run, progress: action.progress };
    case "edited":
      return { ...run, input: action.input };
    case "cancel":
      return run.phase === "running" ? { ...run, cancelling: true } : run;
    case "done": {
      const { type: _type, ...end } = action;
      return { ...traceOf(run), phase: "done", ...end };
    }
    case "broken":
      return { ...traceOf(run), phase: "broken", fault: action.fault };
  }
}

/** Most come in order: then nothing is looked up, however many there are. */
function inOrder(events: readonly AuditEvent[], more: readonly AuditEvent[]): readonly AuditEvent[] {
  const all = [...events, ...more];
  const isOrdered = all.every(({ seq }, index) => index === 0 || index < events.length || seq > all[index - 1]!.seq);
  if (isOrdered) return all;
  return [...new Map(all.map((event) => [event.id, event])).values()].sort((a, b) => a.seq - b.seq);
}

function traceOf({ tool, input, startedAt, events, logs, progress }: Trace): Trace {
  return { tool, input, startedAt, events, logs, progress };
}
