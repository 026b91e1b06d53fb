import type {
  CallPort,
  CapabilityRequest,
  Isolate,
  IsolateCall,
  IsolateHost,
  IsolateOutcome,
  IsolateUsage,
  LogEntry,
  RegisteredTool,
} from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { toolOf } from "./tools.ts";
import { anyIsolateContract, type AnyTool } from "../contract/isolate-any.ts";
import type { HostTraits } from "../contract/isolate-subject.ts";
import { isolatesOf, sharedHost } from "../contract/isolate-warm.ts";
import { runsWhole } from "../support/part.ts";
import { registered } from "../support/registered.ts";

const FUEL = 20_000_000;

interface Ran {
  readonly outcome: IsolateOutcome;
  readonly usage: IsolateUsage | undefined;
  readonly requests: readonly CapabilityRequest[];
  readonly logs: readonly LogEntry[];
}

const files = new Map([
  ["granted", "content"],
  ["folder/one", "1"],
]);

/** Files that are there, and refusals for the rest. */
async function answer({ operation, arguments: { path } }: CapabilityRequest): ReturnType<CallPort["request"]> {
  const content = files.get(String(path));
  const body = new TextEncoder().encode(content ?? "");
  if (operation === "write" || operation === "remove") return { ok: true, value: null };
  if (operation === "list")
    return {
      ok: true,
      value: { entries: [...files.keys()].map((name) => ({ name, kind: "file", byteLength: 1 })), leftOut: 0 },
    };
  if (content === undefined)
    return { ok: false, error: { code: "CAPABILITY_DENIED", message: `No grant for ${String(path)}.`, hint: "" } };
  if (operation === "stat") return { ok: true, value: { name: "", kind: "file", byteLength: body.length } };
  return { ok: true, value: null, body };
}

let calls = 0;

/** One call in an isolate of its own, with nothing in it that differs from one time to the next. */
async function runTool(
  host: IsolateHost,
  tool: RegisteredTool,
  deed: string,
  value = "",
  more: Partial<IsolateCall> = {},
  /** Aborts with the first request, which is never answered. */
  gone?: AbortController,
): Promise<Ran> {
  const isolate = await host.open(tool);
  try {
    return await callIn(isolate, deed, value, more, gone);
  } finally {
    isolate.terminate("the test is over");
  }
}

async function callIn(
  isolate: Isolate,
  deed: string,
  value = "",
  more: Partial<IsolateCall> = {},
  gone?: AbortController,
): Promise<Ran> {
  const requests: CapabilityRequest[] = [];
  const logs: LogEntry[] = [];
  let usage: IsolateUsage | undefined;
  const call: IsolateCall = {
    callId: `call-${calls++}`,
    sessionId: "session",
    inputText: JSON.stringify({ deed, value }),
    outputKind: "json",
    outputBytes: 10_000,
    seed: "5eed".repeat(16),
    nowMs: 1_700_000_000_000,
    real: { clock: false, random: false },
    fuel: FUEL,
    ...more,
  };
  const port: CallPort = {
    signal: (gone ?? new AbortController()).signal,
    log: (entry) => logs.push(entry),
    progress: () => {},
    used: (used) => {
      usage = used;
    },
    async request(request) {
      requests.push(request);
      gone?.abort();
      return gone ? new Promise(() => {}) : answer(request);
    },
  };
  const outcome = await isolate.call(call, port);
  return { outcome, usage, requests, logs };
}

const json = (text: string): IsolateOutcome => ({ kind: "returned", output: { form: "json", text } });

/** What every deed costs, on every engine and in either way to wait. Measured once, on Node; a change of a source or of the count changes it. */
const deeds: readonly (readonly [deed: string, value: string, outcome: IsolateOutcome, fuel: number])[] = [
  ["echo", "x", json('{"deed":"echo","value":"x"}'), 12_032],
  ["arguments", "", json('{"argc":3,"first":"subject","last":"löst","place":"here"}'), 18_938],
  [
    "exit",
    "it",
    { kind: "threw", name: "ExitCode", message: "It exited with 3: a first line\nthere is no such thing as it" },
    14_323,
  ],
  ["trap", "", { kind: "threw", name: "Trap", message: "It trapped." }, 10_908],
  ["abort", "", { kind: "threw", name: "Trap", message: "It trapped: about to abort" }, 11_229],
  ["outside", "", { kind: "threw", name: "Trap", message: "It trapped." }, 11_050],
  ["loop", "", { kind: "out-of-fuel", limit: FUEL }, FUEL],
  ["recurse", "1000", json("500500"), 62_155],
  ["recurse forever", "", { kind: "too-large", what: "stack", limit: 524256 }, 229_991],
  ["hoard", "", { kind: "out-of-memory", limit: 4_194_304 }, 11_930],
  ["flood", "", { kind: "too-large", what: "output", limit: 10000 }, 1_059_892],
  ["bytes", "", { kind: "unnormalizable", reason: "not-utf8", path: "" }, 11_696],
  ["clock", "", json('{"at":1700000000,"slept":3600}'), 16_453],
  ["random", "", json('"3a905da3da66c9cc2cc2c986edeb182a"'), 34_208],
  ["read", "granted", json('{"read":"content"}'), 15_855],
  ["read", "/granted", json('{"read":"content"}'), 15_943],
  ["read", "../granted", json('{"failed":"open","errno":76}'), 16_301],
  ["write", "out", json('{"written":"out"}'), 15_869],
  ["append", "granted", json('{"written":"granted"}'), 16_651],
  ["write and leave open", "out", json('{"written":"out"}'), 16_898],
  ["list", "/", json('["granted","folder/one"]'), 20_182],
  ["stat", "granted", json('{"size":7,"folder":0}'), 15_984],
  ["remove", "granted", json("true"), 13_164],
  ["rename", "granted", json('{"failed":"rename","errno":58}'), 16_528],
  ["far", "granted", json('{"failed":"write","errno":22}'), 15_968],
  [
    "need",
    "secret",
    {
      kind: "threw",
      name: "ExitCode",
      message: "It exited with 1: secret: Permission denied",
      code: "CAPABILITY_DENIED",
    },
    13_290,
  ],
  [
    "request",
    "granted|folder/one",
    json('[{"ok":true,"value":null,"text":"content"},{"ok":true,"value":null,"text":"1"}]'),
    35_070,
  ],
];

const moduleCall = (deed: string, value = ""): IsolateCall => ({
  callId: `any-${calls++}`,
  sessionId: "session",
  inputText: JSON.stringify({ deed, value }),
  outputKind: "json",
  outputBytes: 10_000,
  seed: "5eed".repeat(16),
  nowMs: 1_700_000_000_000,
  real: { clock: false, random: false },
});

const anyModule = (): AnyTool => ({
  tool: registered(toolOf("subject")),
  echo: (text) => moduleCall("echo", text),
  echoed: (text) => JSON.stringify({ deed: "echo", value: text }),
  overhead: JSON.stringify({ deed: "echo", value: "" }).length,
  ask: () => moduleCall("read", "granted"),
  answered: '{"read":"content"}',
  insist: () => moduleCall("need", "secret"),
  chatter: () => moduleCall("chatter"),
  fail: () => moduleCall("exit", "it"),
  loop: () => moduleCall("loop"),
});

type Given = Parameters<typeof callIn> extends [Isolate, ...infer Rest] ? Rest : never;

/** What every host of modules does, at its own port. */
export function describeWasmHost(name: string, makeHost: () => Promise<IsolateHost>, traits: HostTraits): void {
  const shared = sharedHost(makeHost);
  describe(`the isolate contract, for modules in ${name}`, () => anyIsolateContract(shared, anyModule, traits));

  describe(`modules in ${name}`, () => {
    const isolates = isolatesOf(shared, () => registered(toolOf("subject")));
    const subject = (...given: Given): Promise<Ran> => isolates.warm((isolate) => callIn(isolate, ...given));
    /** The same of another module, in an isolate of its own. */
    const other = (name: Parameters<typeof toolOf>[0], ...given: Given): Promise<Ran> =>
      runTool(isolates.host, registered(toolOf(name)), ...given);

    it.each(deeds)("%s %s: the same outcome for the same fuel", async (deed, value, outcome, fuelUsed) => {
      const ran = await subject(deed, value);
      expect({ outcome: ran.outcome, fuelUsed: ran.usage?.fuelUsed }).toEqual({ outcome, fuelUsed });
    });

    // From here on nothing depends on the engine.
    if (!runsWhole(traits.part)) return;

    it("hears each line of the error output once, however often the module has to begin again", async () => {
      const { logs } = await subject("request", "granted|folder/one|missing");
      expect(logs).toEqual(
        ["granted", "folder/one", "missing"].map((path) => ({ level: "info", message: `asked for ${path}` })),
      );
    });

    it("hears a line whole of which one half was written before a question", async () => {
      const { logs, requests } = await other("partial", "");
      expect([logs, requests.length]).toEqual([[{ level: "info", message: "one one " }], 1]);
    });

    it("asks each question once", async () => {
      const { requests } = await subject("write and leave open", "out");
      const stored = (content: string) => ({
        kind: "fs.write",
        operation: "write",
        arguments: { path: "out" },
        body: new TextEncoder().encode(content),
      });
      // Opened, and closed.
      expect(requests).toEqual([stored(""), stored("written by a tool")]);
    });

    it("ends at exactly the fuel that it costs, and not with one less", async () => {
      const fuel = 12_032; // As in the table.
      expect((await subject("echo", "x", { fuel })).outcome.kind).toBe("returned");
      expect((await subject("echo", "x", { fuel: fuel - 1 })).outcome.kind).toBe("out-of-fuel");
    });

    it("gives no call what another one left in memory", async () => {
      const isolate = await isolates.host.open(registered(toolOf("plain")));
      const twice = [await callIn(isolate, "remember"), await callIn(isolate, "remember")];
      isolate.terminate("the test is over");
      expect(twice.map(({ outcome }) => outcome)).toEqual([json("1"), json("1")]);
    });

    it("lives on after a call that reached a bound", async () => {
      await isolates.own(async (isolate) => {
        expect((await callIn(isolate, "loop")).outcome).toEqual({ kind: "out-of-fuel", limit: FUEL });
        expect(isolate.alive).toBe(true);
        expect((await callIn(isolate, "echo")).outcome.kind).toBe("returned");
      });
    });

    it.each([
      ["echo", json('{"deed":"echo","value":""}')],
      ["fail", { kind: "threw", name: "Error", message: "the input is not to my liking" }],
      ["request", json('{"ok":true,"value":null,"base64":"Y29udGVudA=="}')],
      ["outside", { kind: "threw", name: "Error", message: "`run` gave an output outside of the memory." }],
      [
        "call outside",
        { kind: "threw", name: "Error", message: "it gave `keyhole.call` an address outside of its memory" },
      ],
    ])("runs a module with `alloc` and `run`: %s", async (deed, outcome) => {
      expect((await other("plain", deed)).outcome).toEqual(outcome);
    });

    it("lets a module ask in its start function and in `alloc`", async () => {
      const { outcome, requests, usage } = await other("starter", "");
      expect({ outcome, requests: requests.length, usage }).toEqual({
        outcome: json("3"),
        requests: 3,
        usage: { fuelUsed: 388, peakMemoryBytes: 65_536 },
      });
    });

    it("ends a module that catches its own end", async () => {
      const { outcome, requests, usage } = await other("catcher", "");
      expect(outcome).toEqual({ kind: "returned", output: { form: "json", text: "" } });
      expect([requests.length, usage?.fuelUsed]).toEqual([1, 126]);
    });

    it("survives imports with signatures that nobody has", async () => {
      const { outcome, usage } = await other("signatures", "");
      expect([outcome.kind, usage?.fuelUsed]).toEqual(["threw", 12]);
    });

    it.each(["read", "request"])("answers a call whose caller has gone, also one that waits: %s", async (deed) => {
      const controller = new AbortController();
      const { outcome } = await subject(deed, "granted", {}, controller);
      expect(outcome.kind).toBe("returned");
    });
  });
}
