import type {
  CallPort,
  CapabilityReply,
  Isolate,
  IsolateCall,
  IsolateHost,
  IsolateOutcome,
  IsolateUsage,
  RegisteredTool,
} from "@keyhole/kernel";
import subject from "../contract/tools/subject-package.ts";
import { registered } from "../support/registered.ts";

export const FUEL = 1_000_000_000;
export const MEMORY_BYTES = 67_108_864;

export interface Ran {
  readonly outcome: IsolateOutcome;
  readonly usage: IsolateUsage;
  readonly alive: boolean;
}

/** A tool whose module is this text. */
export function toolOfModule(code: string): RegisteredTool {
  return { ...registered(subject), body: { source: "module", code } };
}

/** An isolate with a tool that runs `body`, with `input` and `context` at hand. */
export function openBody(host: IsolateHost, body: string): Promise<Isolate> {
  return host.open(toolOfModule(`export default { code: { async execute(input, context) { ${body} } } }`));
}

let calls = 0;

/** Ids of one length: a longer one would cost more fuel. */
export function callOf(more: Partial<IsolateCall> = {}): IsolateCall {
  return {
    callId: `call-${String(calls++).padStart(6, "0")}`,
    sessionId: "session",
    inputText: "null",
    outputKind: "json",
    outputBytes: 100_000,
    seed: "5eed".repeat(16),
    nowMs: 1_700_000_000_000,
    real: { clock: false, random: false },
    fuel: FUEL,
    memoryBytes: MEMORY_BYTES,
    ...more,
  };
}

const content = (): CapabilityReply => ({ ok: true, value: null, body: new TextEncoder().encode("content") });

/** @param reply to each request. Default: seven bytes */
export async function callIn(isolate: Isolate, more: Partial<IsolateCall> = {}, reply = content): Promise<Ran> {
  let usage: IsolateUsage = {};
  const port: CallPort = {
    signal: new AbortController().signal,
    request: async () => reply(),
    log: () => {},
    progress: () => {},
    used: (said) => (usage = said),
  };
  const outcome = await isolate.call(callOf(more), port);
  return { outcome, usage, alive: isolate.alive };
}

export async function runBody(host: IsolateHost, body: string, more?: Partial<IsolateCall>): Promise<Ran> {
  const isolate = await openBody(host, body);
  try {
    return await callIn(isolate, more);
  } finally {
    isolate.terminate("the test is over");
  }
}
