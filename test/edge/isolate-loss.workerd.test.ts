import { edgeHost, type IsolateLoader, IsolateRegistry } from "@keyhole/edge";
import type { CallPort, Isolate, IsolateCall, RegisteredTool } from "@keyhole/kernel";
import { expect, it } from "vitest";
import { Standstill } from "../../packages/edge/src/isolate/sandbox-place.ts";
import { bindings } from "./bindings.ts";

/* Whose fault it is that an isolate was lost: the tool's, or that of the machine that it ran on. */

const tool = {
  id: "text@1.0.0",
  manifest: { source: "module", bounds: { timeoutMs: 50 } },
  body: { source: "module", code: "" },
} as unknown as RegisteredTool;

const call = { callId: "c", sessionId: "s", inputText: "{}", outputKind: "json", outputBytes: 10, seed: "", nowMs: 0 };
const port: CallPort = {
  signal: new AbortController().signal,
  request: () => new Promise(() => {}),
  log: () => {},
  progress: () => {},
};

const gone = (): Promise<never> => Promise.reject(new Error("Network connection lost."));
const loaded = async (): Promise<unknown> => ({ type: "loaded" });

const whole = { load: loaded, call: gone, holds: async () => true, close: async () => {}, ping: async () => {} };

async function opened(loader: Partial<IsolateLoader>): Promise<Isolate> {
  return edgeHost({ loader: { ...whole, ...loader }, startTimeoutMs: 100 }).open(tool);
}

it.each<[string, Partial<IsolateLoader>, object]>([
  ["its sandbox is another one now: the machine's", { holds: async () => false }, { kind: "lost", blame: "host" }],
  ["its sandbox cannot be reached: the machine's", { holds: gone, ping: gone }, { kind: "lost", blame: "host" }],
  ["its sandbox is there, and holds it: the tool's", {}, { kind: "lost" }],
])("where %s", async (_, loader, outcome) => {
  const isolate = await opened(loader);
  expect(await isolate.call(call as IsolateCall, port)).toEqual({ ...outcome, reason: "the dynamic Worker ended" });
});

it("where the sandbox dies while a module loads, again and again: the machine's", async () => {
  await expect(opened({ load: gone })).rejects.toMatchObject({ code: "ISOLATE_LOST", blame: "host" });
});

it("where the sandbox cannot be reached at all: the machine's", async () => {
  await expect(opened({ load: gone, ping: gone })).rejects.toMatchObject({ code: "ISOLATE_LOST", blame: "host" });
});

it.each([
  ["and held up its sandbox: the tool's, and it is loaded no more", true, "tool", 1],
  ["beside another tool: the machine's", false, "host", 3],
] as const)("where a module did not load to its end %s", async (_, holdsUp, blame, times) => {
  let loads = 0;
  const load = (): Promise<never> => {
    loads++;
    return new Promise((__, reject) => setTimeout(() => reject(new Error("Network connection lost.")), 60));
  };
  await expect(opened({ load, holdsUp: () => holdsUp })).rejects.toMatchObject({ code: "ISOLATE_LOST", blame });
  expect(loads).toBe(times);
});

it("where nothing says what held up the sandbox: the machine's", async () => {
  const late = (): Promise<never> =>
    new Promise((_, reject) => setTimeout(() => reject(new Error("Network connection lost.")), 60));
  await expect(opened({ load: late })).rejects.toMatchObject({ code: "ISOLATE_LOST", blame: "host" });
});

it("an isolate that did not open is closed", async () => {
  const closed: string[] = [];
  const close = async (id: string): Promise<void> => void closed.push(id);
  await expect(
    opened({ load: async () => ({ type: "load-failed", name: "Error", message: "no" }), close }),
  ).rejects.toThrow("no");
  expect(closed).toHaveLength(1);
});

it.each(["Worker exceeded CPU time limit.", "Worker exceeded memory limit."])(
  "where the platform ended the Worker alone while its module loaded: the tool's (%s)",
  async (message) => {
    const ended = {
      getEntrypoint: () => ({ load: () => Promise.reject(new Error(message)) }),
    } as unknown as WorkerStub;
    const loader = new IsolateRegistry({ get: () => ended, load: () => ended });
    const failure = { code: "TOOL_ERROR", blame: "code", message: expect.stringContaining(message) };
    await expect(edgeHost({ loader }).open(tool)).rejects.toMatchObject(failure);
  },
);

it("a module that waits for what never comes is the tool's", async () => {
  const waits = {
    ...tool,
    body: { source: "module", code: "await new Promise(() => {}); export default {};" },
  } as RegisteredTool;
  const host = edgeHost({ loader: new IsolateRegistry(bindings.LOADER) });
  await expect(host.open(waits)).rejects.toMatchObject({ code: "TOOL_ERROR", blame: "code" });
});

it.each([
  ["and holds up its sandbox: the tool's, and its process ends", true, true, "tool", ["suspected 1", "suspected 0"]],
  ["and is only suspected: the machine's, and its process ends", true, false, "host", ["suspected 1", "suspected 0"]],
  ["and waits for its turn: the machine's, and no process ends", false, false, "host", []],
] as const)(
  "where no call waits any more for a module that loads %s",
  async (_, suspects, holdsUp, blame, expected) => {
    const told = new Set<string>();
    let [loads, place] = [0, 0];
    const ended = Promise.withResolvers<never>();
    const load = (): Promise<never> => {
      if (++loads === 1) return Promise.reject(new Standstill());
      place = 1;
      if (!suspects) setTimeout(() => ended.reject(new Standstill()), 300);
      return ended.promise;
    };
    const onUnresponsive = (how: string, sandbox: number): void => {
      told.add(`${how} ${sandbox}`);
      ended.reject(new Error("Network connection lost."));
    };
    const loader = { ...whole, load, suspects: () => suspects, holdsUp: () => holdsUp, placeOf: () => place };
    const slow = { ...tool, manifest: { ...tool.manifest, bounds: { timeoutMs: 10_000 } } } as RegisteredTool;
    const opening = edgeHost({ loader, onUnresponsive, startTimeoutMs: 100 }).open(slow, () => loads < 2);
    await expect(opening).rejects.toMatchObject({ code: "ISOLATE_LOST", blame });
    expect([[...told], loads]).toEqual([expected, 2]);
  },
);

it("a call waits until its sandbox says that it begins, where sandboxes say that", async () => {
  const asked = Promise.withResolvers<{ begin(): Promise<void> }>();
  const hangs: IsolateLoader["call"] = (_, __, target) => {
    asked.resolve(target as { begin(): Promise<void> });
    return new Promise(() => {});
  };
  const isolate = await opened({ announces: true, call: hangs });
  void isolate.call(call as IsolateCall, port);
  const target = await asked.promise;
  expect([isolate.ranMs?.("c"), isolate.ranMs?.("another")]).toEqual([0, undefined]);
  await target.begin();
  expect(isolate.ranMs?.("c")).toBeGreaterThan(0);

  const silent = await opened({ call: hangs });
  void silent.call(call as IsolateCall, port);
  expect(silent.ranMs?.("c")).toBeUndefined();
});
