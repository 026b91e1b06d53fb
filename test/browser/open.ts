import type { CallPort, IsolateCall, IsolateHost, IsolateOutcome, RegisteredTool } from "@keyhole/kernel";

/** A tool whose module is this text. */
export function moduleOf(code: string): RegisteredTool {
  const manifest = { source: "module", bounds: {} };
  return { id: "text@1.0.0", hash: code, manifest, body: { source: "module", code } } as unknown as RegisteredTool;
}

/** A module whose tool runs this body, an async function's, with `input` and `context` at hand. */
export function toolText(body: string, before = ""): string {
  return `${before}\nexport default { code: { execute: async (input, context) => { ${body} } } };`;
}

export const quietPort: CallPort = {
  signal: new AbortController().signal,
  request: async () => ({ ok: false, error: { code: "CAPABILITY_DENIED", message: "no", hint: "" } }),
  log: () => {},
  progress: () => {},
};

let calls = 0;

export function callWith(input: unknown = {}, more: Partial<IsolateCall> = {}): IsolateCall {
  return {
    callId: `call-${calls++}`,
    sessionId: "session",
    inputText: JSON.stringify(input),
    outputKind: "json",
    outputBytes: 1 << 20,
    seed: "0123456789abcdef".repeat(4),
    nowMs: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
    real: { clock: false, random: false },
    ...more,
  };
}

/** What a tool with this body returns; throws where it does not return. */
export async function evaluate(
  host: IsolateHost,
  body: string,
  more: Partial<IsolateCall> = {},
  before = "",
): Promise<unknown> {
  const isolate = await host.open(moduleOf(toolText(body, before)));
  try {
    const outcome: IsolateOutcome = await isolate.call(callWith({}, more), quietPort);
    if (outcome.kind !== "returned" || outcome.output.form !== "json") throw new Error(JSON.stringify(outcome));
    return JSON.parse(outcome.output.text) as unknown;
  } finally {
    isolate.terminate("the test is over");
  }
}
