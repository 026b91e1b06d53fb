import { defineTool, type JsonValue, type ToolContext } from "@keyhole/kernel/tool";

/** What module state a tool keeps between calls; another isolate has its own. */
let remembered: JsonValue = null;
let setups = 0;

type Deed = (value: JsonValue, context: ToolContext) => unknown;

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = [value];
  return value;
}

const explosive: object = new Proxy(
  {},
  {
    get() {
      throw new Error("trap");
    },
    getPrototypeOf() {
      throw new Error("trap");
    },
    ownKeys() {
      throw new Error("trap");
    },
  },
);

/** Good and bad deeds, one per call: what every isolate must take from a tool. */
const deeds: Readonly<Record<string, Deed>> = {
  echo: (value) => value,
  setups: () => setups,
  remember: (value) => (remembered = value),
  recall: () => remembered,
  context: (_, { callId, sessionId, now }) => ({ callId, sessionId, now: now() }),
  random: (_, { random }) => [random(), random(), random()],

  throw: () => {
    throw new RangeError("on purpose");
  },
  "throw nothing": () => {
    throw undefined;
  },
  "throw a proxy": () => {
    throw explosive;
  },
  "throw a novel": () => {
    throw new Error("x".repeat(1 << 20));
  },
  "throw late": async () => {
    await null;
    throw new TypeError("late");
  },
  "claim a refusal": () => {
    throw Object.assign(new Error("not from you"), { code: "CAPABILITY_DENIED" });
  },

  function: () => () => 1,
  symbol: () => Symbol("s"),
  undefined: () => undefined,
  "nested undefined": () => [1, { a: undefined }],
  bigint: () => ({ n: 1n }),
  nan: () => [0, Number.NaN],
  infinity: () => Number.POSITIVE_INFINITY,
  "lone surrogate": () => ({ text: "\ud800" }),
  "lone surrogate in a key": () => ({ "\udfff": 1 }),
  instance: () => new Map(),
  date: () => ({ when: new Date(0) }),
  cycle: () => {
    const a: { self?: unknown } = {};
    a.self = [a];
    return a;
  },
  "too deep": () => nested(10_000),
  "a proxy": () => [explosive],
  "100 MB": () => {
    let text = "x";
    while (text.length < 100 << 20) text += text;
    return text;
  },
  "just too large": (value) => "x".repeat(Number(value)),

  "eat memory": () => {
    const kept: unknown[] = [];
    for (;;) kept.push("x".repeat(100_000).split(""));
  },

  loop: (_, { log }) => {
    log("begun");
    for (;;);
  },
  "loop in promises": async (_, { log }) => {
    log("begun");
    for (;;) await null;
  },
  hang: (_, { log }) => {
    log("begun");
    return new Promise(() => {});
  },
  "hang until told": (_, { signal }) =>
    new Promise((resolve) => {
      if (signal.aborted) resolve("told");
      signal.addEventListener("abort", () => resolve("told"));
    }),

  "flood the log": (_, { log }) => {
    for (let i = 0; i < 100_000; i++) log(`line ${i}`);
    return "flooded";
  },
  "flood the progress": (_, { progress }) => {
    for (let i = 0; i < 100_000; i++) progress({ done: i });
    return "flooded";
  },
  "log a novel": (_, { log }) => {
    log("x".repeat(1 << 20));
    return "logged";
  },
  "log nonsense": (_, { log, progress }) => {
    log({ toString: () => "an object" } as unknown as string, "fatal" as "error");
    progress({ done: Number.NaN });
    progress({ done: "1" } as unknown as { done: number });
    return "logged";
  },
  "log and report": (_, { log, progress }) => {
    log("one", "warn");
    progress({ done: 1, total: 2, message: "half" });
    return "logged";
  },
  "speak after the end": (_, { log, files }) => {
    void (async () => {
      for (let i = 0; i < 100; i++) await null;
      log("after the end");
      await files.read("after/the/end");
    })().catch(() => {});
    return "ended";
  },

  "go on after the end": () => {
    void (async () => {
      for (;;) await null;
    })();
    return "ended";
  },

  read: async (value, { files }) => new TextDecoder().decode(await files.read(String(value))),
  "read and catch": async (value, { files }) => {
    try {
      return await files.read(String(value));
    } catch (error) {
      const { name, code, hint } = error as { name: string; code: string; hint: string };
      return { name, code, hint: typeof hint, isError: error instanceof Error };
    }
  },
  "read a lot at once": async (value, { files }) => {
    const results = await Promise.allSettled(Array.from({ length: Number(value) }, (_, i) => files.read(`file-${i}`)));
    return results.filter(({ status }) => status === "fulfilled").length;
  },
  "ask for nonsense": async (_, { files }) => {
    const asked = await Promise.allSettled([
      files.read("\ud800"),
      files.read("x".repeat(1 << 20)),
      files.write("a", 7 as unknown as string),
    ]);
    return asked.map(({ status }) => status);
  },

  "spoil the prototypes": () => {
    for (const [prototype, name] of [
      [Object.prototype, "polluted"],
      [Array.prototype, "polluted"],
      [Object.prototype, "ok"],
      [Object.prototype, "kind"],
    ] as const) {
      Object.defineProperty(prototype, name, { value: "yes", configurable: true, writable: true });
    }
    return "spoiled";
  },

  /** Each question of the language has the answer yes, and each object has the members that would be a right. */
  "answer every question with yes": () => {
    const yes = [Array, Set, Map, WeakMap, WeakSet, String, RegExp].map(({ prototype }) => prototype as object);
    for (const prototype of yes)
      for (const name of ["includes", "has", "some", "every", "test", "startsWith", "endsWith"])
        if (Object.hasOwn(prototype, name))
          Object.defineProperty(prototype, name, { value: () => true, configurable: true, writable: true });
    const members: object = Object.prototype;
    const real = { clock: true, random: true };
    for (const [name, value] of Object.entries({ real, ...real }))
      Object.defineProperty(members, name, { value, configurable: true, writable: true });
    return "yes";
  },

  "clock and chance": (_, { now, random }) => [now(), Date.now(), random(), Math.random()],
};

export default defineTool({
  name: "subject",
  version: "1.0.0",
  description: "Does one deed of a list, most of them bad.",
  determinism: "external",
  effects: ["fs.read", "fs.write"],
  capabilities: [
    { kind: "fs.read", paths: ["**"], optional: true },
    { kind: "fs.write", paths: ["**"], optional: true },
  ],
  bounds: { outputBytes: 1_000, timeoutMs: 30_000, callsPerHour: 1_000_000 },
  input: { type: "object", properties: { deed: { type: "string" }, value: {} }, required: ["deed"] },
  output: { kind: "json" },
  setup: () => {
    setups += 1;
  },
  health: () => {
    if (remembered === "stuck") for (;;);
    if (remembered === "broken") throw new Error("It broke.");
    return remembered === "ill" ? "It is ill." : undefined;
  },
  check: ({ deed }) => (Object.hasOwn(deeds, deed) ? undefined : `There is no deed "${deed}".`),
  execute: ({ deed, value = null }, context) => deeds[deed]!(value as JsonValue, context) as JsonValue,
});
