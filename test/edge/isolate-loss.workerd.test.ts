import { edgeHost, type IsolateLoader } from "@keyhole/edge";
import type { CallPort, Isolate, IsolateCall, RegisteredTool } from "@keyhole/kernel";
import { expect, it } from "vitest";

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

async function opened(loader: Partial<IsolateLoader>): Promise<Isolate> {
  const whole = { load: loaded, call: gone, holds: async () => true, close: async () => {}, ping: async () => {} };
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

it("where the sandbox had to be ended because a module does not load to its end: the tool's", async () => {
  const late = (): Promise<never> =>
    new Promise((_, reject) => setTimeout(() => reject(new Error("Network connection lost.")), 60));
  await expect(opened({ load: late })).rejects.toMatchObject({ code: "ISOLATE_LOST", blame: "tool" });
});

it("a call waits until its sandbox says that it begins, where sandboxes say that", async () => {
  const asked = Promise.withResolvers<{ begin(): Promise<void> }>();
  const hangs: IsolateLoader["call"] = (_, __, target) => {
    asked.resolve(target as { begin(): Promise<void> });
    return new Promise(() => {});
  };
  const isolate = await opened({ announces: true, call: hangs });
  void isolate.call(call as IsolateCall, port);
  const target = await asked.promise;
  expect([isolate.waits?.("c"), isolate.waits?.("another")]).toEqual([true, false]);
  await target.begin();
  expect(isolate.waits?.("c")).toBe(false);

  const silent = await opened({ call: hangs });
  void silent.call(call as IsolateCall, port);
  expect(silent.waits?.("c")).toBe(false);
});
