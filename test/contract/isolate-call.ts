import type { CallPort, IsolateCall, IsolateOutcome, JsonValue, LogEntry } from "@keyhole/kernel";

let calls = 0;

/** A call of the subject under the contract. */
export function callOf(deed: string, value: JsonValue = null, more: Partial<IsolateCall> = {}): IsolateCall {
  return {
    callId: `call-${calls++}`,
    sessionId: "session",
    inputText: JSON.stringify({ deed, value }),
    outputKind: "json",
    outputBytes: 1_000,
    seed: "5eed".repeat(16),
    nowMs: 1_700_000_000_000,
    real: { clock: false, random: false },
    ...more,
  };
}

interface Listener extends CallPort {
  readonly logs: LogEntry[];
  readonly progresses: unknown[];
  readonly requests: unknown[];
  readonly abort: () => void;
}

/** A port that keeps what it hears, and grants one path. */
export function listener(): Listener {
  const controller = new AbortController();
  const logs: LogEntry[] = [];
  const progresses: unknown[] = [];
  const requests: unknown[] = [];
  return {
    signal: controller.signal,
    abort: () => controller.abort(),
    logs,
    progresses,
    requests,
    log: (entry) => logs.push(entry),
    progress: (progress) => progresses.push(progress),
    async request(request) {
      requests.push(request);
      if (request.arguments.path !== "granted") {
        return { ok: false, error: { code: "CAPABILITY_DENIED", message: "Not granted.", hint: "Ask for `granted`." } };
      }
      return { ok: true, value: null, body: new TextEncoder().encode("content") };
    },
  };
}

export const json = (value: unknown): IsolateOutcome => ({
  kind: "returned",
  output: { form: "json", text: JSON.stringify(value) },
});
