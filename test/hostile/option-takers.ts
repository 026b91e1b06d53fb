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
import { busSource, natsBus, serveOnBus } from "@keyhole/bus";
import { startEdge } from "@keyhole/edge/dev";
import { type IsolateHost, type Kernel, policy } from "@keyhole/kernel";
import { erase, redact, verifyAudit } from "@keyhole/kernel/audit";
import { verifyProof } from "@keyhole/kernel/policy";
import { replay } from "@keyhole/kernel/replay";
import { compileSchema } from "@keyhole/kernel/schema";
import { mcpJsonSchemaValidator } from "@keyhole/kernel/schema/mcp";
import { rjsfValidator } from "@keyhole/kernel/schema/rjsf";
import { standardSchema } from "@keyhole/kernel/schema/standard-schema";
import { callSuspender } from "@keyhole/kernel/suspend";
import { approvalPages, mcpHandler, mcpHttp, mcpSource, oauthTokens, serveMcpPort } from "@keyhole/mcp";
import { mcpProcess, serveApprovals, serveMcpHttp, serveMcpStdio } from "@keyhole/mcp/node";
import { dbBroker } from "@keyhole/worker-host/brokers/db";
import { opfsDatabase } from "@keyhole/worker-host/brokers/db-opfs";
import { memoryStore } from "@keyhole/worker-host/brokers/files";
import { opfsStore } from "@keyhole/worker-host/brokers/files-opfs";
import { r2Store } from "@keyhole/worker-host/brokers/files-r2";
import { memoryKv } from "@keyhole/worker-host/brokers/kv";
import { indexedDbKv } from "@keyhole/worker-host/brokers/kv-indexeddb";
import { workersKv } from "@keyhole/worker-host/brokers/kv-workers";
import { netBroker } from "@keyhole/worker-host/brokers/net";
import { commandBroker } from "@keyhole/worker-host/brokers/spawn";
import {
  browserHost,
  connectKernel,
  domFrameContainer,
  exposeInspector as inspectInPage,
  keyholeWorker,
  startKernelAt,
} from "@keyhole/worker-host/browser";
import { contentStore, keyedContentStore } from "@keyhole/worker-host/content";
import { pagePolicy } from "@keyhole/worker-host/csp";
import { connectEdge } from "@keyhole/worker-host/edge";
import { httpHost } from "@keyhole/worker-host/http";
import {
  environmentSecrets,
  exposeInspector as inspectOnNode,
  fileSink,
  nodeHost,
  nodeKv,
  spawnBroker,
  terminalApprover,
} from "@keyhole/worker-host/node";
import { browserBroker, withBrowser } from "@keyhole/worker-host/node/browser";
import { configuredOptions } from "@keyhole/worker-host/node/config";
import { operationsCatalogue } from "@keyhole/worker-host/node/operations";
import { traced } from "@keyhole/worker-host/otel";
import { indexedDbSink } from "@keyhole/worker-host/sinks/indexeddb";
import { memoryBrokers } from "@keyhole/worker-host/testing";
import { meter, wasmHost, withWasiCommands } from "@keyhole/worker-host/wasm";
import { interpreterHost } from "@keyhole/worker-host/wasm/interpreter";
import { withCommands } from "@keyhole/worker-host/wasm/modules";
import { packTool } from "keyhole";
import { startKernel } from "keyhole/browser";
import { keyhole as esbuildPlugin } from "keyhole/esbuild";
import { Packer } from "keyhole/packer";
import { keyhole as rollupPlugin } from "keyhole/rollup";
import { keyhole as vitePlugin } from "keyhole/vite";
import { keyhole as webpackPlugin } from "keyhole/webpack";
import { openKernel } from "../support/kernel.ts";

export type Taker = (options: never, kernel: Kernel) => unknown;
const host = {} as IsolateHost;
const none = {} as never;
const container = { open: () => Promise.reject(new Error("no frame")) } as never;

/**
 * Each function of the packages that takes options, options that restrict nothing because of one letter, and the name that was meant; none where a function
 * has no option.
 */
export const takers: Readonly<Record<string, readonly [Taker, object, string | undefined]>> = {
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
  verifyAudit: [(options) => verifyAudit([], options), { withold: true }, "withheld"],
  policy: [(options) => policy({}, options), { variable: {} }, "variables"],
  verifyProof: [(options) => verifyProof({}, options), { polcy: {} }, "policy"],
  replay: [(options) => replay({ entries: [] }, options), { host, tools: [], clock: none, insted: [] }, "instead"],
  redact: [(options) => redact([], options), { path: ["/input"] }, "paths"],
  erase: [(options) => erase([], options, none), { path: ["/input"] }, "paths"],
  compileSchema: [(options) => compileSchema(true, options), { limit: {} }, "limits"],
  standardSchema: [(options) => standardSchema(true, options), { limit: {} }, "limits"],
  rjsfValidator: [(options) => rjsfValidator(options), { limit: {} }, "limits"],
  mcpJsonSchemaValidator: [(options) => mcpJsonSchemaValidator(options), { limit: {} }, "limits"],
  environmentSecrets: [(options) => environmentSecrets(options), { prefx: "A_" }, "prefix"],
  "Kernel.suspend": [
    async (options) => {
      const { kernel } = await openKernel({ suspender: callSuspender({ key: new Uint8Array(32) }) });
      return kernel.suspend("c", options);
    },
    { waitms: 1 },
    "waitMs",
  ],
  contentStore: [(options) => contentStore(none, options), { maxbytes: 1 }, "maxBytes"],
  keyedContentStore: [(options) => keyedContentStore(none, options), { maxbytes: 1 }, "maxBytes"],
  indexedDbKv: [(options) => indexedDbKv(options), { databse: "a" }, "database"],
  indexedDbSink: [(options) => indexedDbSink(options), { databse: "a" }, "database"],
  opfsDatabase: [(options) => opfsDatabase(options), { nam: "a" }, "name"],
  opfsStore: [(options) => opfsStore(options), { foldr: "a" }, "folder"],
  pagePolicy: [(options) => pagePolicy(options), { trustedtypes: [] }, "trustedTypes"],
  traced: [(options, kernel) => traced(kernel, options), { meterprovider: none }, "meterProvider"],
  httpHost: [(options) => httpHost(options), { broker: [] }, "brokers"],
  operationsCatalogue: [(options) => operationsCatalogue(options), { log: [] }, "logs"],
  memoryBrokers: [(options) => memoryBrokers(options), { file: {} }, "files"],
  domFrameContainer: [(options) => domFrameContainer(options), { nonse: "a" }, "nonce"],
  "@keyhole/worker-host/node exposeInspector": [
    (options, kernel) => inspectOnNode(kernel, options),
    { origins: [], maychangeMode: false },
    "mayChangeMode",
  ],
  "@keyhole/worker-host/browser exposeInspector": [
    (options, kernel) => inspectInPage(kernel, options),
    { origin: "https://a.example", maychangeMode: false },
    "mayChangeMode",
  ],
  configuredOptions: [
    (options) => configuredOptions({ config: { document: {} }, folder: "/" } as never, options),
    { file: "./work" },
    "files",
  ],
  connectKernel: [(options) => connectKernel(none, options), { aprover: none }, "approver"],
  keyholeWorker: [(options) => keyholeWorker(none, options), { aprover: none }, "approver"],
  startKernelAt: [(options) => startKernelAt("", options), { policy: {}, tools: [], logs: "memory" }, "log"],
  startKernel: [(options) => startKernel(options), { policy: {}, tools: [], logs: "memory" }, "log"],
  "connectEdge, its own": [(options) => connectEdge("http://127.0.0.1:1", "t", options), { aprover: none }, "approver"],
  meter: [(options) => meter(new Uint8Array(), options), { memorybytes: 1 }, "memoryBytes"],
  commandBroker: [(options) => commandBroker(new Map(), options), { process: 1 }, "processes"],
  withCommands: [
    (options) => withCommands({ ...host, sources: [], brokers: [] }, new Map(), options),
    { process: 1 },
    "processes",
  ],
  withWasiCommands: [
    (options) => withWasiCommands({ ...host, brokers: [] }, options),
    { commands: {}, process: 1 },
    "processes",
  ],
  natsBus: [(options) => natsBus(none, none, options), { clocks: {} }, "clock"],
  busSource: [(options, kernel) => busSource(kernel, none, options), { name: "a", tier: {} }, "tiers"],
  mcpSource: [(options, kernel) => mcpSource(kernel, options), { name: "a", server: none, tier: {} }, "tiers"],
  mcpHttp: [(options) => mcpHttp(options), { url: "https://a.example", header: {} }, "headers"],
  "mcpHttp, a sign-in": [
    (options) => mcpHttp({ url: "https://a.example", signIn: options }),
    { issuers: [], redirectUrl: "https://b.example", visit: none, endpoint: [] },
    "endpoints",
  ],
  mcpProcess: [(options) => mcpProcess(options), { command: "a", arg: ["-i"] }, "args"],
  approvalPages: [(options) => approvalPages(options), { origin: "https://a.example", key: [] }, "keys"],
  serveApprovals: [(options) => serveApprovals(options), { keys: [], hosts: "localhost" }, "host"],
  serveMcpPort: [(options, kernel) => serveMcpPort(kernel, none, options), { caller: {}, approval: none }, "approvals"],
  startEdge: [(options) => startEdge(options), { port: 0, config: "a", tokens: "t" }, "token"],
  Packer: [(options) => new Packer(options), { condition: [] }, "conditions"],
  "keyhole/vite keyhole": [(options) => vitePlugin(options), { dst: "a.d.ts" }, "dts"],
  "keyhole/esbuild keyhole": [(options) => esbuildPlugin(options), { rot: "." }, "root"],
  "keyhole/rollup keyhole": [(options) => rollupPlugin(options), { rot: "." }, "root"],
  "keyhole/webpack keyhole": [(options) => webpackPlugin(options), { rot: "." }, "root"],
  packTool: [(options) => packTool("tool.ts", options), { rot: "." }, "root"],
  terminalApprover: [(options) => terminalApprover(options), { aprover: "ada" }, "approver"],
  "Kernel.list": [(options, kernel) => kernel.list(options), { caler: "ada" }, "caller"],
};
