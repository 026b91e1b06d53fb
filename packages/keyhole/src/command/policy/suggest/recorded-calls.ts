import type { AuditEvent, Tier } from "@keyhole/kernel";

/** The log's facts about one request. */
export interface RecordedUse {
  readonly kind: string;
  readonly target: string;
}

/** The log's facts about one call that passed: it started, or was given the result of another one. */
export interface RecordedCall {
  /** `name@version`. */
  readonly tool: string;
  readonly caller: string;
  /** The kinds that the policy of the time granted. */
  readonly granted: readonly string[];
  /** Requests without a refusal. */
  readonly uses: readonly RecordedUse[];
  /** Whether a person allowed it. */
  readonly wasAsked: boolean;
  /** Known where the log holds a proof. */
  readonly tier: Tier | undefined;
}

type Draft = { -readonly [Name in keyof RecordedCall]: RecordedCall[Name] } & {
  hasStarted: boolean;
  uses: RecordedUse[];
};

export interface RecordedCalls {
  readonly started: readonly RecordedCall[];
  /** Calls that did not pass. */
  readonly stopped: number;
}

/** The calls of a log, in the order of their beginnings. */
export async function recordedCalls(events: AsyncIterable<AuditEvent>): Promise<RecordedCalls> {
  const drafts = new Map<string, Draft>();
  for await (const event of events) {
    if (event.callId === null) continue;
    if (event.type === "call.invoked") {
      const { tool, caller } = event.payload;
      const empty = { granted: [], uses: [], wasAsked: false, tier: undefined, hasStarted: false };
      if (!drafts.has(event.callId)) drafts.set(event.callId, { tool, caller, ...empty });
      continue;
    }
    const draft = drafts.get(event.callId);
    if (draft !== undefined) take(draft, event);
  }
  const all = [...drafts.values()];
  const started = all.filter(({ hasStarted }) => hasStarted);
  return { started, stopped: all.length - started.length };
}

function take(draft: Draft, event: AuditEvent): void {
  switch (event.type) {
    case "capability.checked":
      draft.granted = event.payload.granted;
      break;
    case "policy.decided":
      draft.tier = event.payload.proof?.tier ?? draft.tier;
      break;
    case "approval.resolved":
      if (event.payload.answer === "allow") draft.wasAsked = true;
      break;
    case "tool.started":
      draft.tool = event.payload.tool;
      draft.hasStarted = true;
      break;
    case "result.reused":
      draft.hasStarted = true; // Nothing ran, and the call passed.
      break;
    case "capability.used":
      if (event.payload.outcome !== "refused") draft.uses.push(event.payload);
      break;
    default:
  }
}
