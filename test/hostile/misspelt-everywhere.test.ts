import { codeMode } from "@keyhole/agents/code-mode";
import type { Kernel, ToolManifest } from "@keyhole/kernel";
import { runPipeline } from "@keyhole/kernel/pipeline";
import { rerun } from "@keyhole/kernel/replay";
import { openConfigured } from "@keyhole/worker-host/node/config";
import { traced } from "@keyhole/worker-host/otel";
import { browserHost, type BrowserHostOptions } from "@keyhole/worker-host/browser";
import { fileSink } from "@keyhole/worker-host/node";
import { describe, expect, it } from "vitest";
import { readIsolation } from "../../packages/worker-host/src/browser/isolation.ts";
import { echo, openKernel, openPolicy } from "../support/kernel.ts";
import { optionTakers } from "../support/public-functions.ts";
import { elsewhere } from "./options-elsewhere.ts";
import { takers } from "./option-takers.ts";

const container = { open: () => Promise.reject(new Error("no frame")) } as never;

describe("a misspelt option", () => {
  it.each(Object.entries(takers))("of %s is refused", async (_, [take, wrong, meant]) => {
    const { kernel } = await openKernel();
    const taken = async (options: object): Promise<unknown> => take(options as never, kernel);
    await expect(taken(wrong)).rejects.toThrow(
      new RegExp(`has no option \`.*${meant === undefined ? "It has none" : `Known are .*\\b${meant}\\b`}`),
    );
  });

  it.each(Object.entries(takers).filter(([name]) => !/,|AgentRun/.test(name)))(
    "of %s does not hide in a class",
    async (_, [take, wrong]) => {
      const { kernel } = await openKernel();
      const taken = async (options: object): Promise<unknown> => take(options as never, kernel);
      await expect(taken(Object.create(wrong) as object)).rejects.toThrow("plain object");
    },
  );
});

describe("a public function with options", () => {
  const known = new Set([...Object.keys(takers).map((name) => name.split(",")[0]!), ...elsewhere.values()].flat());

  it("refuses what it does not know, or is named with a reason", () => {
    expect(optionTakers().filter((name) => !known.has(name))).toEqual([]);
  });

  it("is named once, and exists", () => {
    const found = new Set(optionTakers());
    expect([...known].filter((name) => !found.has(name))).toEqual([]);
    expect([...elsewhere.values()].flat().filter((name) => name in takers)).toEqual([]);
  });
});

describe("options that go on to a kernel", () => {
  const restricted = Object.create({ grants: [] }) as object;
  const step = { id: "a", tool: "echo", input: { message: "m" } };

  it.each<[string, (kernel: Kernel) => Promise<unknown>]>([
    ["traced", (kernel) => traced(kernel).call("echo", step.input, restricted)],
    ["rerun", (kernel) => rerun(kernel, { callId: "c", tool: "echo@1.0.0", input: step.input }, restricted)],
    ["runPipeline", (kernel) => runPipeline(kernel, [step], restricted)],
  ])("through %s lose nothing that a class carries", async (_, take) => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(echo);
    const given = await take(kernel);
    expect(given).toMatchObject({ ok: false });
    expect(JSON.stringify(given)).toContain("plain object");
  });

  it("through openConfigured lose nothing that a class carries", async () => {
    const file = {
      config: { document: {}, limited: () => ({ ok: true, policy: openPolicy }), packages: [], pipelines: [] },
      folder: "/",
    };
    await expect(openConfigured(file as never, [], restricted)).rejects.toThrow("plain object");
  });
});

describe("a value of an option that would isolate or write less than was meant", () => {
  it.each<BrowserHostOptions>([
    { isolation: "Interpreter" as never },
    { isolation: null as never },
    { maxIsolates: "4" as never },
    { warm: -1 },
  ])("opens no host: %j", async (options) => {
    await expect(browserHost({ container, warm: 0, ...options })).rejects.toThrow(TypeError);
  });

  it.each<[string, unknown]>([
    ["a promise", Promise.resolve("interpreter")],
    ["a flag", true],
    ["nothing", undefined],
    ["a capital", "Interpreter"],
  ])("opens no tool where the function for it returns %s", (_, chosen) => {
    const isolationOf = readIsolation(() => chosen as never);
    expect(() => isolationOf({ name: "echo" } as ToolManifest)).toThrow("`isolation` for echo is");
  });

  it("is refused by a sink and by code mode", async () => {
    const { kernel } = await openKernel();
    expect(() => fileSink("/nonexistent/log", { fsync: "always" as never })).toThrow("batch");
    expect(() => codeMode(kernel, { style: "type" as never })).toThrow("types");
  });
});
