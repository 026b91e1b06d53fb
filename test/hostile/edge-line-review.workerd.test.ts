import type { CallPort, IsolateCall } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { CallLine } from "../../packages/edge/src/isolate/call-line.ts";

const call: IsolateCall = {
  callId: "the-call",
  sessionId: "session",
  inputText: "{}",
  outputKind: "json",
  outputBytes: 1_000,
  seed: "0".repeat(64),
  nowMs: 0,
};

/** Counts the listeners that wait on its signal. */
function port() {
  const controller = new AbortController();
  const { signal } = controller;
  let listeners = 0;
  const add = signal.addEventListener.bind(signal) as (...given: unknown[]) => void;
  Object.assign(signal, {
    addEventListener: (...given: unknown[]) => {
      listeners++;
      add(...given);
    },
  });
  const callPort: CallPort = {
    signal,
    request: async () => ({ ok: true, value: null }),
    log: () => {},
    progress: () => {},
  };
  return { callPort, abort: () => controller.abort(), listeners: () => listeners };
}

describe("a guest that never stops asking what is next", () => {
  it("loses the call, and leaves nothing behind in the kernel", async () => {
    const { callPort, listeners } = port();
    const line = new CallLine(call, callPort);
    const answers = Array.from({ length: 1_000 }, () => line.next());
    expect(await line.broken).toEqual({ kind: "lost", reason: "protocol: it asks on and on what is next" });
    expect(await Promise.all(answers)).toEqual(Array(1_000).fill("ended"));
    expect(listeners()).toBe(4);
  });

  it("may ask as the shell does: for the cancellation, and after it for the end", async () => {
    const { callPort, abort } = port();
    const line = new CallLine(call, callPort);
    const first = line.next();
    abort();
    expect(await first).toBe("cancelled");
    const second = line.next();
    line.end();
    expect(await second).toBe("ended");
  });
});
