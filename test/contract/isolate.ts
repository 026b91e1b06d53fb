import {
  type CallError,
  type CallOptions,
  type CallPort,
  type CallResult,
  checkPackage,
  createKernel,
  type Isolate,
  type IsolateCall,
  type IsolateHost,
  type IsolateOutcome,
  type JsonValue,
  type Kernel,
  type LogEntry,
  type RegisteredTool,
} from "@keyhole/kernel";
import { filesBroker, memoryStore } from "@keyhole/worker-host/brokers/files";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectSoundLog, openPolicy } from "../support/kernel.ts";
import subject from "./tools/subject.ts";
import subjectPackage from "./tools/subject.ts?tool";

export interface HostTraits {
  /** Whether it stops a tool that never yields. */
  readonly preempts: boolean;
}

/** What every isolate host must do: first at its own port, then under a whole kernel. */
export function describeIsolateHost(name: string, makeHost: () => Promise<IsolateHost>, traits: HostTraits): void {
  describe(`the isolate host ${name}`, () => {
    describe("at its port", () => portContract(makeHost, traits));
    describe("under a kernel", () => kernelContract(makeHost, traits));
  });
}

function subjectFor(host: IsolateHost): typeof subject | typeof subjectPackage {
  return host.sources.includes("module") ? subjectPackage : subject;
}

function registered(foreign: unknown): RegisteredTool {
  const checked = checkPackage(foreign);
  if (!checked.ok) throw new Error(checked.error.message);
  return checked.value;
}

let calls = 0;

function callOf(deed: string, value: JsonValue = null, more: Partial<IsolateCall> = {}): IsolateCall {
  return {
    callId: `call-${calls++}`,
    sessionId: "session",
    inputText: JSON.stringify({ deed, value }),
    outputKind: "json",
    outputBytes: 1_000,
    seed: "5eed".repeat(16),
    nowMs: 1_700_000_000_000,
    ...more,
  };
}

interface Listener extends CallPort {
  readonly logs: LogEntry[];
  readonly progresses: unknown[];
  readonly requests: unknown[];
  readonly abort: () => void;
}

function listener(): Listener {
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

const json = (value: unknown): IsolateOutcome => ({
  kind: "returned",
  output: { form: "json", text: JSON.stringify(value) },
});

function portContract(makeHost: () => Promise<IsolateHost>, { preempts }: HostTraits): void {
  let host: IsolateHost;
  let tool: RegisteredTool;
  beforeAll(async () => {
    host = await makeHost();
    tool = registered(subjectFor(host));
  });
  afterAll(() => host.close());

  const opened = async <T>(use: (isolate: Isolate) => Promise<T>): Promise<T> => {
    const isolate = await host.open(tool);
    try {
      return await use(isolate);
    } finally {
      isolate.terminate("the test is over");
    }
  };

  it("says what it is", () => {
    expect(host.name).not.toBe("");
    expect(host.sources.length).toBeGreaterThan(0);
    expect(host.preempts).toBe(preempts);
  });

  it("refuses a tool that is not made for a boundary", async () => {
    if (!host.sources.includes("module")) return expect(host.sources).toEqual(["inline"]);
    const body = { source: "inline", code: subject.code } as RegisteredTool["body"];
    return expect(host.open({ ...tool, body })).rejects.toMatchObject({
      name: "IsolateFailure",
      code: "UNSUPPORTED_HOST",
    });
  });

  it.each([
    ["throws while it loads", "throw new RangeError('no')"],
    ["is no JavaScript", "export default {"],
    ["imports from the network", "import 'https://example.com/x.js'; export default {}"],
  ])("refuses a module that %s", async (_, code) => {
    if (!host.sources.includes("module")) return expect(host.sources).toEqual(["inline"]);
    return expect(host.open({ ...tool, body: { source: "module", code } })).rejects.toMatchObject({
      name: "IsolateFailure",
      code: "TOOL_ERROR",
    });
  });

  it.each(["export default null", "export const execute = 1", "export default { code: { execute: 1 } }"])(
    "says of a module that it is no tool: %s",
    async (code) => {
      if (!host.sources.includes("module")) return expect(host.sources).toEqual(["inline"]);
      const isolate = await host.open({ ...tool, body: { source: "module", code } });
      expect(await isolate.call(callOf("echo"), listener())).toMatchObject({ kind: "threw", name: "TypeError" });
      isolate.terminate("the test is over");
    },
  );

  it("gives back what the tool returned, as canonical JSON", () =>
    opened(async (isolate) => {
      const outcome = await isolate.call(
        callOf("echo", { b: [1, 2.5, -0], a: { text: "é\n", none: null } }),
        listener(),
      );
      expect(outcome).toEqual({
        kind: "returned",
        output: { form: "json", text: '{"a":{"none":null,"text":"é\\n"},"b":[1,2.5,0]}' },
      });
      expect(isolate.alive).toBe(true);
    }));

  it("hands over keys that name prototypes as data", () =>
    opened(async (isolate) => {
      const inputText = '{"deed":"echo","value":{"constructor":1,"toString":2}}';
      expect(await isolate.call({ ...callOf("echo"), inputText }, listener())).toEqual(
        json({ constructor: 1, toString: 2 }),
      );
    }));

  it("gives the call's own clock and chance", () =>
    opened(async (isolate) => {
      const call = callOf("context");
      expect(await isolate.call(call, listener())).toEqual(
        json({ callId: call.callId, now: 1_700_000_000_000, sessionId: "session" }),
      );
      const [one, same, other] = [
        await isolate.call(callOf("random"), listener()),
        await isolate.call(callOf("random"), listener()),
        await isolate.call(callOf("random", null, { seed: "f".repeat(64) }), listener()),
      ];
      // Written down, so that it is the same on every host and in every version.
      expect(one).toEqual(json([0.2274075712425886, 0.5644300768919011, 0.36396402194343624]));
      expect(same).toEqual(one);
      expect(other).not.toEqual(one);
    }));

  it("sets a tool up once", () =>
    opened(async (isolate) => {
      await Promise.all([isolate.call(callOf("echo"), listener()), isolate.call(callOf("echo"), listener())]);
      // Inline isolates share the module, and so what its setup counted.
      const outcome = await isolate.call(callOf("setups"), listener());
      expect(outcome).toEqual(json(1));
    }));

  it("keeps two isolates of one tool apart", async () => {
    if (!host.sources.includes("module")) return expect(host.preempts).toBe(false);
    return opened((one) =>
      opened(async (other) => {
        await one.call(callOf("remember", "a secret"), listener());
        expect(await one.call(callOf("recall"), listener())).toEqual(json("a secret"));
        expect(await other.call(callOf("recall"), listener())).toEqual(json(null));
      }),
    );
  });

  it("runs two calls at the same time without mixing them up", () =>
    opened(async (isolate) => {
      const told = listener();
      const waiting = isolate.call(callOf("hang until told"), told);
      expect(await isolate.call(callOf("echo", "meanwhile"), listener())).toEqual(json("meanwhile"));
      told.abort();
      expect(await waiting).toEqual(json("told"));
    }));

  it("carries logs and progress", () =>
    opened(async (isolate) => {
      const port = listener();
      await isolate.call(callOf("log and report"), port);
      expect(port.logs).toEqual([{ level: "warn", message: "one" }]);
      expect(port.progresses).toEqual([{ done: 1, total: 2, message: "half" }]);
    }));

  it("carries a request out and its reply in", () =>
    opened(async (isolate) => {
      const port = listener();
      expect(await isolate.call(callOf("read", "granted"), port)).toEqual(json("content"));
      expect(port.requests).toEqual([{ kind: "fs.read", operation: "read", arguments: { path: "granted" } }]);
    }));

  it("makes a refusal an error that a tool can read", () =>
    opened(async (isolate) => {
      expect(await isolate.call(callOf("read and catch", "denied"), listener())).toEqual(
        json({ code: "CAPABILITY_DENIED", hint: "string", isError: true, name: "CapabilityRefused" }),
      );
      expect(await isolate.call(callOf("read", "denied"), listener())).toEqual({
        kind: "threw",
        name: "CapabilityRefused",
        message: "Not granted.",
        code: "CAPABILITY_DENIED",
      });
    }));

  it("serves more requests than may wait at the same time", () =>
    opened(async (isolate) => {
      const port = { ...listener(), request: async () => ({ ok: true as const, value: null, body: new Uint8Array() }) };
      expect(await isolate.call(callOf("read a lot at once", 200), port)).toEqual(json(200));
    }));

  it("refuses requests that cannot be sent, and lives", () =>
    opened(async (isolate) => {
      expect(await isolate.call(callOf("ask for nonsense"), listener())).toEqual(
        json(["rejected", "rejected", "rejected"]),
      );
      expect(isolate.alive).toBe(true);
    }));

  it("passes on what check refused", () =>
    opened(async (isolate) => {
      expect(await isolate.call(callOf("dance"), listener())).toEqual({
        kind: "refused",
        message: 'There is no deed "dance".',
      });
    }));

  it("passes on the cancellation", () =>
    opened(async (isolate) => {
      const port = listener();
      const outcome = isolate.call(callOf("hang until told"), port);
      port.abort();
      expect(await outcome).toEqual(json("told"));
    }));

  it("passes on a cancellation that came before the call", () =>
    opened(async (isolate) => {
      const port = listener();
      port.abort();
      expect(await isolate.call(callOf("hang until told"), port)).toEqual(json("told"));
    }));

  it.each<[string, IsolateOutcome]>([
    ["throw", { kind: "threw", name: "RangeError", message: "on purpose" }],
    ["throw nothing", { kind: "threw", name: "Error", message: "undefined" }],
    ["throw a proxy", { kind: "threw", name: "Error", message: "" }],
    ["throw a novel", { kind: "threw", name: "Error", message: "x".repeat(2_000) }],
    ["throw late", { kind: "threw", name: "TypeError", message: "late" }],
    ["function", { kind: "unnormalizable", reason: "function", path: "" }],
    ["symbol", { kind: "unnormalizable", reason: "symbol", path: "" }],
    ["undefined", { kind: "unnormalizable", reason: "undefined", path: "" }],
    ["nested undefined", { kind: "unnormalizable", reason: "undefined", path: "/1/a" }],
    ["bigint", { kind: "unnormalizable", reason: "bigint", path: "/n" }],
    ["nan", { kind: "unnormalizable", reason: "not-finite", path: "/1" }],
    ["infinity", { kind: "unnormalizable", reason: "not-finite", path: "" }],
    ["lone surrogate", { kind: "unnormalizable", reason: "lone-surrogate", path: "/text" }],
    ["lone surrogate in a key", { kind: "unnormalizable", reason: "lone-surrogate", path: "" }],
    ["instance", { kind: "unnormalizable", reason: "not-plain", path: "" }],
    ["date", { kind: "unnormalizable", reason: "not-plain", path: "/when" }],
    ["cycle", { kind: "unnormalizable", reason: "cycle", path: "/self/0" }],
    ["a proxy", { kind: "unnormalizable", reason: "unreadable", path: "/0" }],
    ["100 MB", { kind: "too-large", what: "output", limit: 1_000 }],
  ])("survives a tool that does: %s", (deed, expected) =>
    opened(async (isolate) => {
      expect(await isolate.call(callOf(deed), listener())).toEqual(expected);
      expect(await isolate.call(callOf("echo", "still here"), listener())).toEqual(json("still here"));
    }),
  );

  it("survives a value that is too deep", () =>
    opened(async (isolate) => {
      expect(await isolate.call(callOf("too deep"), listener())).toMatchObject({
        kind: "unnormalizable",
        reason: "too-deep",
      });
      expect(await isolate.call(callOf("echo", 1), listener())).toEqual(json(1));
    }));

  it("measures the output in bytes, at the limit and one past it", () =>
    opened(async (isolate) => {
      expect((await isolate.call(callOf("just too large", 998), listener())).kind).toBe("returned");
      expect(await isolate.call(callOf("just too large", 999), listener())).toEqual({
        kind: "too-large",
        what: "output",
        limit: 1_000,
      });
    }));

  it.each(["flood the log", "flood the progress"])("bounds a tool that does: %s", (deed) =>
    opened(async (isolate) => {
      const port = listener();
      expect(["returned", "too-large"]).toContain((await isolate.call(callOf(deed), port)).kind);
      if (host.sources.includes("module")) expect(port.logs.length + port.progresses.length).toBeLessThanOrEqual(1_000);
      const next = isolate.alive ? isolate : await host.open(tool);
      expect(await next.call(callOf("echo", 1), listener())).toEqual(json(1));
      next.terminate("the test is over");
    }),
  );

  it("tells callers that it is gone, once terminated", () =>
    opened(async (isolate) => {
      const outcome = isolate.call(callOf("hang"), listener());
      isolate.terminate("enough");
      isolate.terminate("twice");
      expect(await outcome).toEqual({ kind: "lost", reason: "enough" });
      expect(isolate.alive).toBe(false);
    }));

  it("hears nothing of a tool that speaks after the end", () =>
    opened(async (isolate) => {
      const port = listener();
      expect(await isolate.call(callOf("speak after the end"), port)).toEqual(json("ended"));
      await isolate.call(callOf("read and catch", "denied"), listener());
      if (host.sources.includes("module")) expect([port.logs, port.requests]).toEqual([[], []]);
      expect(isolate.alive).toBe(true);
    }));

  if (preempts) {
    it("stops a tool that never yields, and serves the next one", () =>
      opened(async (isolate) => {
        for (const deed of ["loop", "loop in promises"]) {
          const spinning = await host.open(tool);
          const outcome = spinning.call(callOf(deed), listener());
          // Another isolate answers while this one spins: the loop really runs, and it is stopped from outside.
          expect(await isolate.call(callOf("echo", 1), listener())).toEqual(json(1));
          spinning.terminate("deadline");
          expect(await outcome).toEqual({ kind: "lost", reason: "deadline" });
        }
        const next = await host.open(tool);
        expect(await next.call(callOf("echo", 2), listener())).toEqual(json(2));
        next.terminate("the test is over");
      }));
  }
}

function kernelContract(makeHost: () => Promise<IsolateHost>, { preempts }: HostTraits): void {
  let kernel: Kernel;
  beforeAll(async () => {
    const host = await makeHost();
    const grants = [{ tool: "subject", capability: { kind: "fs.read", paths: ["public/**"] } }];
    const brokers = [filesBroker(memoryStore())];
    const policy = { ...openPolicy, grants };
    kernel = await createKernel(host.sources.includes("module") ? { host, policy, brokers } : { policy, brokers });
    expect(kernel.register(subjectFor(host))).toMatchObject({ ok: true });
  });
  afterAll(() => kernel.close());

  const call = (deed: string, value: JsonValue = null, options: CallOptions = {}): Promise<CallResult> =>
    kernel.call("subject", { deed, value }, { sessionId: "session", ...options });
  const codeOf = (result: CallResult): CallError["code"] | "OK" => (result.ok ? "OK" : result.error.code);

  /** Whatever a call did: the next one works, and the log has exactly one end for each. */
  const expectCode = async (expected: CallError["code"] | "OK", result: CallResult): Promise<void> => {
    expect(codeOf(result), JSON.stringify(result)).toBe(expected);
    expect(await call("echo", "next")).toMatchObject({ ok: true, data: "next" });
    await expectSoundLog(kernel);
  };

  it("runs a good call", async () => {
    const result = await call("echo", { b: 1, a: "é" });
    await expectCode("OK", result);
    expect(result).toMatchObject({ data: { a: "é", b: 1 }, hash: expect.stringMatching(/^blake3:/) });
  });

  it.each<[CallError["code"] | "OK", string]>([
    ["TOOL_ERROR", "throw"],
    ["TOOL_ERROR", "throw nothing"],
    ["TOOL_ERROR", "throw a proxy"],
    ["TOOL_ERROR", "claim a refusal"],
    ["INVALID_INPUT", "dance"],
    ["NOT_NORMALIZABLE", "function"],
    ["NOT_NORMALIZABLE", "undefined"],
    ["NOT_NORMALIZABLE", "cycle"],
    ["NOT_NORMALIZABLE", "lone surrogate"],
    ["NOT_NORMALIZABLE", "too deep"],
    ["NOT_NORMALIZABLE", "a proxy"],
    ["BOUNDS_EXCEEDED", "100 MB"],
    ["OK", "speak after the end"],
    ["OK", "log nonsense"],
    ["OK", "log a novel"],
  ])("ends with %s a tool that does: %s", async (code, deed) => expectCode(code, await call(deed)));

  it("refuses what was not granted, and says so", async () => {
    const result = await call("read", "private/file");
    await expectCode("CAPABILITY_DENIED", result);
    expect(!result.ok && result.error.message).not.toBe("");
  });

  it("lets a tool go on after a refusal that it caught", async () => {
    await expectCode("OK", await call("read and catch", "private/file"));
  });

  it("tells a missing file from a forbidden one", async () => {
    const missing = await call("read and catch", "public/missing");
    expect(missing).toMatchObject({ ok: true, data: { code: "UNAVAILABLE" } });
  });

  it("gives the caller's listeners at most what a call may send", async () => {
    const lines: LogEntry[] = [];
    const result = await call("flood the log", null, { onLog: (entry) => lines.push(entry) });
    expect(["OK", "BOUNDS_EXCEEDED"]).toContain(codeOf(result));
    expect(lines.length).toBeLessThanOrEqual(1_000);
    await expectCode("OK", await call("echo"));
  });

  it("ends a tool that hangs at its deadline", async () => {
    await expectCode("TIMEOUT", await call("hang", null, { bounds: { timeoutMs: 100 } }));
  });

  it("lets a cancelled tool end by itself within the grace", async () => {
    const controller = new AbortController();
    const result = call("hang until told", null, { signal: controller.signal });
    controller.abort();
    await expectCode("CANCELLED", await result);
  });

  it("kills a cancelled tool that does not listen, after the grace", async () => {
    const controller = new AbortController();
    const result = call("hang", null, { signal: controller.signal });
    controller.abort();
    await expectCode("CANCELLED", await result);
  });

  if (preempts) {
    it.each(["loop", "loop in promises"])("stops at the deadline a tool that does: %s", async (deed) => {
      await expectCode("TIMEOUT", await call(deed, null, { bounds: { timeoutMs: 300 } }));
    });
  }

  it("keeps what one session left in memory from another", async () => {
    await call("remember", "mine", { sessionId: "a" });
    if (preempts) expect(await call("recall", null, { sessionId: "b" })).toMatchObject({ ok: true, data: null });
    expect(await call("recall", null, { sessionId: "a" })).toMatchObject({ ok: true, data: "mine" });
  });

  // Last: where the realm is shared, it stays spoiled.
  if (preempts) {
    it("is not touched by prototypes that a tool spoiled", async () => {
      await call("spoil the prototypes");
      expect("polluted" in {}).toBe(false);
      expect(await call("throw")).toMatchObject({ ok: false, error: { code: "TOOL_ERROR" } });
      expect(await call("echo", [], { sessionId: "other" })).toMatchObject({ ok: true, data: [] });
      await expectSoundLog(kernel);
    });
  }
}
