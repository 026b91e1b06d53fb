import { AgentRun } from "@keyhole/agents/agent-run";
import { aiSdkTools } from "@keyhole/agents/ai-sdk";
import { anthropicTools } from "@keyhole/agents/anthropic";
import { codemodeExecutor } from "@keyhole/agents/cloudflare-codemode";
import { codeMode } from "@keyhole/agents/code-mode";
import { langChainTools } from "@keyhole/agents/langchain";
import { openAiTools } from "@keyhole/agents/openai";
import { openAiAgentsTools } from "@keyhole/agents/openai-agents";
import { pageToolsSource } from "@keyhole/agents/page-tools";
import { policyClient } from "@keyhole/agents/policy-client";
import { promptApiTools } from "@keyhole/agents/prompt-api";
import { exposeToPage } from "@keyhole/agents/webmcp";
import { serveOnBus } from "@keyhole/bus";
import type { IsolateHost, Kernel, ToolManifest } from "@keyhole/kernel";
import { erase, redact, verifyAudit } from "@keyhole/kernel/audit";
import { callSuspender } from "@keyhole/kernel/suspend";
import { mcpHandler, oauthTokens } from "@keyhole/mcp";
import { serveMcpHttp, serveMcpStdio } from "@keyhole/mcp/node";
import { dbBroker } from "@keyhole/worker-host/brokers/db";
import { memoryStore } from "@keyhole/worker-host/brokers/files";
import { r2Store } from "@keyhole/worker-host/brokers/files-r2";
import { memoryKv } from "@keyhole/worker-host/brokers/kv";
import { workersKv } from "@keyhole/worker-host/brokers/kv-workers";
import { netBroker } from "@keyhole/worker-host/brokers/net";
import { browserHost, type BrowserHostOptions } from "@keyhole/worker-host/browser";
import { connectEdge } from "@keyhole/worker-host/edge";
import { interpreterHost } from "@keyhole/worker-host/wasm/interpreter";
import { fileSink, nodeHost, nodeKv, spawnBroker } from "@keyhole/worker-host/node";
import { browserBroker, withBrowser } from "@keyhole/worker-host/node/browser";
import { wasmHost } from "@keyhole/worker-host/wasm";
import { describe, expect, it } from "vitest";
import { readIsolation } from "../../packages/worker-host/src/browser/isolation.ts";
import { openKernel } from "../support/kernel.ts";

type Taker = (options: never, kernel: Kernel) => unknown;
const host = {} as IsolateHost;
const none = {} as never;
const container = { open: () => Promise.reject(new Error("no frame")) } as never;

/** Each function of the packages that takes options, and options that restrict nothing because of one letter. */
const takers: Readonly<Record<string, readonly [Taker, object, string | undefined]>> = {
  redact: [(options) => redact([], options), { path: ["/input"] }, "paths"],
  erase: [(options) => erase([], options, none), { path: ["/input"] }, "paths"],
  verifyAudit: [(options) => verifyAudit([], options), { checkpoint: [] }, "checkpoints"],
  aiSdkTools: [(options, kernel) => aiSdkTools(kernel, options), { grant: [] }, "grants"],
  "aiSdkTools, a budget": [
    (options, kernel) => aiSdkTools(kernel, options),
    { budgets: { echo: { answerByte: 512 } } },
    "answerBytes",
  ],
  anthropicTools: [(options, kernel) => anthropicTools(kernel, options), { tool: ["other"] }, "tools"],
  langChainTools: [(options, kernel) => langChainTools(kernel, () => 1, options), { sessionid: "s" }, "sessionId"],
  openAiTools: [(options, kernel) => openAiTools(kernel, options), { signals: undefined }, "signal"],
  openAiAgentsTools: [(options, kernel) => openAiAgentsTools(kernel, options), { approvers: "a" }, "approver"],
  promptApiTools: [(options, kernel) => promptApiTools(kernel, options), { caler: "ada" }, "caller"],
  exposeToPage: [(options, kernel) => exposeToPage(kernel, options), { modelContext: {}, grant: [] }, "grants"],
  pageToolsSource: [(options, kernel) => pageToolsSource(kernel, options), { modelContexts: {} }, "modelContext"],
  policyClient: [(options, kernel) => policyClient(kernel, options), { tool: [] }, "tools"],
  codeMode: [(options, kernel) => codeMode(kernel, options), { stile: "types" }, "style"],
  codemodeExecutor: [(options, kernel) => codemodeExecutor(kernel, options), { grant: [] }, "grants"],
  AgentRun: [
    (options, kernel) => new AgentRun({ ...(options as object), kernel, ask: () => none }),
    { budgt: { calls: 1 } },
    "budget",
  ],
  "AgentRun, a budget": [
    (options, kernel) => new AgentRun({ ...(options as object), kernel, ask: () => none }),
    { budget: { call: 1 } },
    "calls",
  ],
  serveOnBus: [(options, kernel) => serveOnBus(kernel, none, options), { callers: none, tool: [] }, "tools"],
  callSuspender: [(options) => callSuspender(options), { key: new Uint8Array(32), claims: () => true }, "claim"],
  mcpHandler: [(options, kernel) => mcpHandler(kernel, options), { authenticate: none, origin: [] }, "origins"],
  serveMcpHttp: [(options, kernel) => serveMcpHttp(kernel, options), { authenticate: none, adress: "::1" }, "address"],
  serveMcpStdio: [(options, kernel) => serveMcpStdio(kernel, options), { caller: {}, approval: none }, "approvals"],
  oauthTokens: [
    (options) => oauthTokens(options),
    { issuer: "https://a.example", resource: "https://b.example", keys: "https://a.example/k", requiredscopes: [] },
    "requiredScopes",
  ],
  dbBroker: [(options) => dbBroker({}, options), { row: 1 }, "rows"],
  memoryStore: [(options) => memoryStore(options), { totalByte: 1 }, "totalBytes"],
  r2Store: [(options) => r2Store(none, options), { prefx: "a" }, "prefix"],
  memoryKv: [(options) => memoryKv(options), { keycount: 1 }, "keyCount"],
  workersKv: [(options) => workersKv(none, options), { prefixs: "a" }, "prefix"],
  netBroker: [(options) => netBroker(options), { fetsh: none }, "fetch"],
  browserHost: [(options) => browserHost(options), { container, isolaton: "interpreter" }, "isolation"],
  connectEdge: [
    (options) => connectEdge("http://127.0.0.1:1", "t").preview("echo", {}, options),
    { grant: [] },
    "grants",
  ],
  interpreterHost: [(options) => interpreterHost(options), { engine: none, feul: 1 }, "fuel"],
  nodeHost: [(options) => nodeHost(options), { file: "./work" }, "files"],
  "nodeHost, limits": [
    (options) => nodeHost(options),
    { commands: { a: "/bin/true" }, commandLimits: { stdoutbytes: 10 } },
    "stdoutBytes",
  ],
  "nodeHost, a program": [
    (options) => nodeHost(options),
    { commands: { rm: { path: "/bin/rm", arg: ["-i"] } } },
    "args",
  ],
  "nodeHost, a module": [
    (options) => nodeHost(options),
    { commands: { a: { module: new Uint8Array(), feul: 1 } } },
    "fuel",
  ],
  spawnBroker: [(options) => spawnBroker(options), { commands: {}, process: 1 }, "processes"],
  browserBroker: [(options) => browserBroker(options), { netwrok: {} }, "network"],
  withBrowser: [(options) => withBrowser({ ...host, brokers: [] }, options), { sandBoxes: "off" }, "sandbox"],
  nodeKv: [(options) => nodeKv(":memory:", options), { totalbytes: 1 }, "totalBytes"],
  fileSink: [(options) => fileSink("/nonexistent/log", options), { fsyncs: "batch" }, "fsync"],
  wasmHost: [(options) => wasmHost(options), { feul: 1 }, "fuel"],
  "kernel.list": [(options, kernel) => kernel.list(options), { caler: "ada" }, "caller"],
};

describe("a misspelt option", () => {
  it.each(Object.entries(takers))("of %s is refused", async (_, [take, wrong, meant]) => {
    const { kernel } = await openKernel();
    const taken = async (options: object): Promise<unknown> => take(options as never, kernel);
    await expect(taken(wrong)).rejects.toThrow(new RegExp(`has no option \`.*Known are .*\\b${meant}\\b`));
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

/** Options that are numbers, each with its least. */
const numbers: readonly (readonly [owner: string, name: string, least: number, taker: Taker])[] = [
  ["AgentRun", "steps", 1, (options, kernel) => new AgentRun({ ...(options as object), kernel, ask: () => none })],
  ...(["calls", "tokens", "fuel"] as const).map(
    (name) =>
      [
        "The budget of AgentRun",
        name,
        0,
        (budget, kernel) => new AgentRun({ budget, kernel, ask: () => none }),
      ] satisfies (typeof numbers)[number],
  ),
  ["dbBroker", "rows", 1, (options) => dbBroker({}, options)],
  ["memoryStore", "totalBytes", 0, (options) => memoryStore(options)],
  ["memoryKv", "keyCount", 0, (options) => memoryKv(options)],
  ["browserHost", "maxIsolates", 1, (options) => browserHost({ container, ...(options as object) })],
  ["interpreterHost", "fuel", 1, (options) => interpreterHost({ engine: none, ...(options as object) })],
  ["nodeHost", "startTimeoutMs", 1, (options) => nodeHost(options)],
  ["spawnBroker", "stdoutBytes", 0, (options) => spawnBroker({ commands: {}, ...(options as object) })],
  [
    "mcpHandler",
    "sessionsPerCaller",
    1,
    (options, kernel) => mcpHandler(kernel, { authenticate: none, ...(options as object) }),
  ],
];

describe("an option that is a number", () => {
  it.each(numbers)("of %s has a least: %s", async (owner, name, least, take) => {
    const { kernel } = await openKernel();
    const taken = async (value: unknown): Promise<unknown> => take({ [name]: value } as never, kernel);
    // Each comparison with the first is false, so a limit of it would be none.
    for (const value of [NaN, Infinity, least - 1, least + 0.5, String(least), null])
      await expect(taken(value)).rejects.toThrow(
        `${owner} takes a whole number from ${least} as \`${name}\`, not ${typeof value === "number" ? value : typeof value}.`,
      );
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
