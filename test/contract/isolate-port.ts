import type { IsolateHost, IsolateOutcome, RegisteredTool } from "@keyhole/kernel";
import { expect, it } from "vitest";
import { runsWhole } from "../support/part.ts";
import type { AnyTool } from "./isolate-any.ts";
import { callOf, json, listener } from "./isolate-call.ts";
import { type HostTraits, subjectFor } from "./isolate-subject.ts";
import { isolatesOf } from "./isolate-warm.ts";
import subject from "./tools/subject.ts";
import { registered } from "../support/registered.ts";

/** The tool under the contract, as one of any language. */
export const anyScript = (host: IsolateHost): AnyTool => ({
  tool: registered(subjectFor(host)),
  echo: (text) => callOf("echo", text),
  echoed: (text) => JSON.stringify(text),
  overhead: 2,
  ask: () => callOf("read", "granted"),
  answered: '"content"',
  insist: () => callOf("read", "denied"),
  // What is trusted is not counted.
  ...(host.sources.includes("module") && { chatter: () => callOf("flood the log") }),
  fail: () => callOf("throw"),
  loop: () => callOf("loop"),
});

/** What a host must do at its own port, whoever asks. */
export function portContract(makeHost: () => Promise<IsolateHost>, { preempts, part }: HostTraits): void {
  const isolates = isolatesOf(makeHost, (host) => registered(subjectFor(host)));

  it("says what it is", () => {
    expect(isolates.host.name).not.toBe("");
    expect(isolates.host.sources.length).toBeGreaterThan(0);
    expect(isolates.host.preempts).toBe(preempts);
  });

  it.each([
    ["throws while it loads", "throw new RangeError('no')"],
    ["is no JavaScript", "export default {"],
    ["imports from the network", "import 'https://example.com/x.js'; export default {}"],
  ])("refuses a module that %s", async (_, code) => {
    if (!isolates.host.sources.includes("module")) return expect(isolates.host.sources).toEqual(["inline"]);
    return expect(isolates.host.open({ ...isolates.tool, body: { source: "module", code } })).rejects.toMatchObject({
      name: "IsolateFailure",
      code: "TOOL_ERROR",
    });
  });

  it("gives back what the tool returned, as canonical JSON", () =>
    isolates.warm(async (isolate) => {
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

  it("gives the call's own clock and chance", () =>
    isolates.warm(async (isolate) => {
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

  it("gives no tool a real clock or chance because it changed the language", async () => {
    if (!isolates.host.sources.includes("module")) return expect(isolates.host.sources).toEqual(["inline"]);
    return isolates.own(async (isolate) => {
      const logical = await isolate.call(callOf("clock and chance"), listener());
      await isolate.call(callOf("answer every question with yes"), listener());
      expect(await isolate.call(callOf("clock and chance"), listener())).toEqual(logical);
    });
  });

  it("sets a tool up once", () =>
    isolates.own(async (isolate) => {
      await Promise.all([isolate.call(callOf("echo"), listener()), isolate.call(callOf("echo"), listener())]);
      // Inline isolates share the module, and so what its setup counted.
      const outcome = await isolate.call(callOf("setups"), listener());
      expect(outcome).toEqual(json(1));
    }));

  it("keeps two isolates of one tool apart", async () => {
    if (!isolates.host.sources.includes("module")) return expect(isolates.host.preempts).toBe(false);
    return isolates.own((one) =>
      isolates.own(async (other) => {
        await one.call(callOf("remember", "a secret"), listener());
        expect(await one.call(callOf("recall"), listener())).toEqual(json("a secret"));
        expect(await other.call(callOf("recall"), listener())).toEqual(json(null));
      }),
    );
  });

  it("serves more requests than may wait at the same time", () =>
    isolates.warm(async (isolate) => {
      const port = { ...listener(), request: async () => ({ ok: true as const, value: null, body: new Uint8Array() }) };
      expect(await isolate.call(callOf("read a lot at once", 200), port)).toEqual(json(200));
    }));

  it("passes on the cancellation", () =>
    isolates.warm(async (isolate) => {
      const port = listener();
      const outcome = isolate.call(callOf("hang until told"), port);
      port.abort();
      expect(await outcome).toEqual(json("told"));
    }));

  it("hears nothing of a tool that speaks after the end", () =>
    isolates.warm(async (isolate) => {
      const port = listener();
      expect(await isolate.call(callOf("speak after the end"), port)).toEqual(json("ended"));
      await isolate.call(callOf("read and catch", "denied"), listener());
      if (isolates.host.sources.includes("module")) expect([port.logs, port.requests]).toEqual([[], []]);
      expect(isolate.alive).toBe(true);
    }));

  if (preempts) {
    it("answers for a tool that goes on after its end only when nothing of it goes on", () =>
      isolates.own(async (isolate) => {
        const outcome = isolate.call(callOf("go on after the end"), listener());
        const ended = outcome.then((end) => [end, isolate.alive]);
        await isolates.own(async (other) => expect(await other.call(callOf("echo", 1), listener())).toEqual(json(1)));
        isolate.terminate("deadline");
        // The interpreter has ended its machine; any other isolate still waits.
        const ends = [json("ended"), { kind: "lost", reason: "deadline" }].map((end) => [end, false]);
        expect(ends).toContainEqual(await ended);
      }));

    it("stops a tool that loops in promises", () =>
      isolates.own(async (isolate) => {
        const outcome = isolate.call(callOf("loop in promises"), listener());
        await isolates.own(async (other) => expect(await other.call(callOf("echo", 1), listener())).toEqual(json(1)));
        isolate.terminate("deadline");
        expect(await outcome).toEqual({ kind: "lost", reason: "deadline" });
      }));
  }

  // From here on nothing depends on the engine.
  if (!runsWhole(part)) return;

  it("refuses a tool that is not made for a boundary", async () => {
    if (!isolates.host.sources.includes("module")) return expect(isolates.host.sources).toEqual(["inline"]);
    const body = { source: "inline", code: subject.code } as RegisteredTool["body"];
    return expect(isolates.host.open({ ...isolates.tool, body })).rejects.toMatchObject({
      name: "IsolateFailure",
      code: "UNSUPPORTED_HOST",
    });
  });

  it.each(["export default null", "export const execute = 1", "export default { code: { execute: 1 } }"])(
    "says of a module that it is no tool: %s",
    async (code) => {
      if (!isolates.host.sources.includes("module")) return expect(isolates.host.sources).toEqual(["inline"]);
      const isolate = await isolates.host.open({ ...isolates.tool, body: { source: "module", code } });
      expect(await isolate.call(callOf("echo"), listener())).toMatchObject({ kind: "threw", name: "TypeError" });
      isolate.terminate("the test is over");
    },
  );

  it("hands over keys that name prototypes as data", () =>
    isolates.warm(async (isolate) => {
      const inputText = '{"deed":"echo","value":{"constructor":1,"toString":2}}';
      expect(await isolate.call({ ...callOf("echo"), inputText }, listener())).toEqual(
        json({ constructor: 1, toString: 2 }),
      );
    }));

  it("carries logs and progress", () =>
    isolates.warm(async (isolate) => {
      const port = listener();
      await isolate.call(callOf("log and report"), port);
      expect(port.logs).toEqual([{ level: "warn", message: "one" }]);
      expect(port.progresses).toEqual([{ done: 1, total: 2, message: "half" }]);
    }));

  it("makes a refusal an error that a tool can read", () =>
    isolates.warm(async (isolate) => {
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

  it("refuses requests that cannot be sent, and lives", () =>
    isolates.warm(async (isolate) => {
      expect(await isolate.call(callOf("ask for nonsense"), listener())).toEqual(
        json(["rejected", "rejected", "rejected"]),
      );
      expect(isolate.alive).toBe(true);
    }));

  it("passes on what check refused", () =>
    isolates.warm(async (isolate) => {
      expect(await isolate.call(callOf("dance"), listener())).toEqual({
        kind: "refused",
        message: 'There is no deed "dance".',
      });
    }));

  it("passes on a cancellation that came before the call", () =>
    isolates.warm(async (isolate) => {
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
    ["undefined", { kind: "returned", output: { form: "json", text: "null" } }],
    ["nested undefined", { kind: "returned", output: { form: "json", text: "[1,{}]" } }],
    ["bigint", { kind: "unnormalizable", reason: "bigint", path: "/n", unchecked: '{"n":1}' }],
    ["nan", { kind: "unnormalizable", reason: "not-finite", path: "/1" }],
    ["infinity", { kind: "unnormalizable", reason: "not-finite", path: "" }],
    ["lone surrogate", { kind: "unnormalizable", reason: "lone-surrogate", path: "/text" }],
    ["lone surrogate in a key", { kind: "unnormalizable", reason: "lone-surrogate", path: "/\ufffd" }],
    ["instance", { kind: "unnormalizable", reason: "not-plain", path: "" }],
    ["date", { kind: "unnormalizable", reason: "not-plain", path: "/when" }],
    ["cycle", { kind: "unnormalizable", reason: "cycle", path: "/self/0" }],
    ["a proxy", { kind: "unnormalizable", reason: "unreadable", path: "/0" }],
    ["100 MB", { kind: "too-large", what: "output", limit: 1_000 }],
  ])("survives a tool that does: %s", (deed, expected) =>
    isolates.warm(async (isolate) => {
      expect(await isolate.call(callOf(deed), listener())).toMatchObject(expected);
      expect(await isolate.call(callOf("echo", "still here"), listener())).toEqual(json("still here"));
    }),
  );

  it("survives a value that is too deep", () =>
    isolates.warm(async (isolate) => {
      expect(await isolate.call(callOf("too deep"), listener())).toMatchObject({
        kind: "unnormalizable",
        reason: "too-deep",
      });
      expect(await isolate.call(callOf("echo", 1), listener())).toEqual(json(1));
    }));

  it("bounds a tool that floods with reports of its progress", () =>
    isolates.warm(async (isolate) => {
      const port = listener();
      expect(["returned", "too-large"]).toContain((await isolate.call(callOf("flood the progress"), port)).kind);
      if (isolates.host.sources.includes("module")) expect(port.progresses.length).toBeLessThanOrEqual(1_000);
      const next = isolate.alive ? isolate : await isolates.host.open(isolates.tool);
      expect(await next.call(callOf("echo", 1), listener())).toEqual(json(1));
      next.terminate("the test is over");
    }));
}
