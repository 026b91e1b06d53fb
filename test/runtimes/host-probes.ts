import { hold, type Probe } from "./probes.ts";

/** The empty module of WebAssembly. */
const emptyModule = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

function serves({ families }: { readonly families: readonly { readonly kind: string }[] }, kind: string): boolean {
  return families.some((family) => family.kind === kind);
}

export const workerHostProbes: Readonly<Record<string, Probe>> = {
  async "@keyhole/worker-host/approval-desk"() {
    const { ApprovalDesk } = await import("@keyhole/worker-host/approval-desk");
    const desk = new ApprovalDesk();
    hold(desk.list().length === 0 && !desk.answer("a", { answer: "deny", approver: "ada" }), "a question is open");
  },
  async "@keyhole/worker-host/brokers/db"() {
    const { dbBroker } = await import("@keyhole/worker-host/brokers/db");
    hold(serves(dbBroker({}), "db.read"), "it serves no database");
  },
  async "@keyhole/worker-host/brokers/db-d1"() {
    const { d1Database } = await import("@keyhole/worker-host/brokers/db-d1");
    const database = d1Database({
      prepare: () => {
        throw new Error("not here");
      },
    });
    const statement = { sql: "SELECT 1", params: [], kinds: ["select"] } as const;
    const answer = await database.query(statement, { rows: 1, bytes: 9, timeMs: 999 }, new AbortController().signal);
    hold(!answer.ok, "a binding that throws gave rows");
  },
  async "@keyhole/worker-host/testing"() {
    const { memoryBrokers } = await import("@keyhole/worker-host/testing");
    hold((await (await memoryBrokers({ files: { a: "b" } })).file("a")) === "b", "the file is not there");
  },
  async "@keyhole/worker-host/brokers/files"() {
    const { filesBroker, memoryStore } = await import("@keyhole/worker-host/brokers/files");
    hold(serves(filesBroker(memoryStore()), "fs.read"), "it serves no files");
  },
  async "@keyhole/worker-host/brokers/files-r2"() {
    const { r2Store } = await import("@keyhole/worker-host/brokers/files-r2");
    const store = r2Store({ get: async () => null } as never);
    hold(!(await store.read("a.txt", 9)).ok, "an empty bucket gave a file");
  },
  async "@keyhole/worker-host/brokers/kv"() {
    const { kvBroker, memoryKv } = await import("@keyhole/worker-host/brokers/kv");
    const store = memoryKv();
    await store.put("a", Uint8Array.of(1));
    hold((await store.get("a", 9)).ok && serves(kvBroker(store), "kv.read"), "it keeps no values");
  },
  async "@keyhole/worker-host/brokers/kv-workers"() {
    const { workersKv } = await import("@keyhole/worker-host/brokers/kv-workers");
    const store = workersKv({ get: async () => null } as never);
    hold(!(await store.get("a", 9)).ok, "an empty namespace gave a value");
  },
  async "@keyhole/worker-host/brokers/net"() {
    const { checkHost, netBroker } = await import("@keyhole/worker-host/brokers/net");
    hold(serves(netBroker(), "net.read"), "it serves no network");
    hold(typeof checkHost === "function", "there is no check of hosts");
  },
  async "@keyhole/worker-host/brokers/spawn"() {
    const { commandBroker } = await import("@keyhole/worker-host/brokers/spawn");
    hold(serves(commandBroker(new Map()), "process.spawn"), "it serves no commands");
  },
  async "@keyhole/worker-host/cloudevents"() {
    const { fromCloudEvent } = await import("@keyhole/worker-host/cloudevents");
    hold(fromCloudEvent({ specversion: "1.0" }) === undefined, "what is no event of ours was taken");
  },
  async "@keyhole/worker-host/csp"() {
    const { pagePolicy } = await import("@keyhole/worker-host/csp");
    hold(/script-src 'self' 'sha256-[\w+/]{43}=' blob:/.test(pagePolicy()), pagePolicy());
  },
  async "@keyhole/worker-host/config"() {
    const { readConfig } = await import("@keyhole/worker-host/config");
    hold(readConfig({ version: "1" }).ok, "the configuration was refused");
  },
  async "@keyhole/worker-host/config-schema"() {
    const { configFileSchema } = await import("@keyhole/worker-host/config-schema");
    hold(typeof configFileSchema === "object", "there is no schema");
  },
  async "@keyhole/worker-host/content"() {
    const { contentStore } = await import("@keyhole/worker-host/content");
    const { memoryStore } = await import("@keyhole/worker-host/brokers/files");
    hold(typeof contentStore(memoryStore()) === "object", "there is no store");
  },
  async "@keyhole/worker-host/edge"() {
    const { connectEdge } = await import("@keyhole/worker-host/edge");
    const kernel = connectEdge("https://edge.example", "t", { fetch: async () => Response.json({ tools: [] }) });
    hold((await kernel.list()).length === 0, "the list is another");
  },
  async "@keyhole/worker-host/edge-protocol"() {
    const { readAddress } = await import("@keyhole/worker-host/edge-protocol");
    hold(readAddress("https://edge.example/v1") === "https://edge.example", "the address is another");
  },
  async "@keyhole/worker-host/guest"() {
    const { thrownOutcome } = await import("@keyhole/worker-host/guest");
    hold(thrownOutcome(new Error("x")).kind === "threw", "the outcome is another");
  },
  async "@keyhole/worker-host/http"() {
    const { httpPackage } = await import("@keyhole/worker-host/http");
    const { manifest } = httpPackage({
      name: "status",
      version: "1.0.0",
      description: "Asks for a status.",
      http: { url: "https://api.example.com/status" },
      input: { type: "object" },
      output: { kind: "json" },
    });
    hold(manifest.source === "http", "it is no package of a request");
  },
  async "@keyhole/worker-host/otel"() {
    const { traced } = await import("@keyhole/worker-host/otel");
    const { createKernel } = await import("@keyhole/kernel");
    const kernel = traced(await createKernel());
    hold(!(await kernel.call("nothing", {})).ok, "a tool that is not there was called");
    await kernel.close();
  },
  async "@keyhole/worker-host/process"() {
    const { processPackage } = await import("@keyhole/worker-host/process");
    const { manifest } = processPackage({
      name: "run",
      version: "1.0.0",
      description: "Runs a command.",
      process: { command: "true", args: [] },
      input: { type: "object" },
      output: { kind: "json" },
    });
    hold(manifest.source === "process", "it is no package of a command");
  },
  async "@keyhole/worker-host/protocol"() {
    const { parseGuestMessage } = await import("@keyhole/worker-host/protocol");
    hold(typeof parseGuestMessage({}) === "string", "a forged message was taken");
  },
  async "@keyhole/worker-host/tools"() {
    const { echo } = await import("@keyhole/worker-host/tools");
    const { checkPackage } = await import("@keyhole/kernel");
    hold(checkPackage(echo).ok, "the package was refused");
  },
  async "@keyhole/worker-host/tools/operations"() {
    const { operationsTools } = await import("@keyhole/worker-host/tools/operations");
    const { checkPackage } = await import("@keyhole/kernel");
    hold(
      operationsTools.every((each) => checkPackage(each).ok),
      "a package was refused",
    );
  },
  async "@keyhole/worker-host/wasm"() {
    const { meter } = await import("@keyhole/worker-host/wasm");
    hold(meter(emptyModule).ok, "the empty module was refused");
  },
  async "@keyhole/worker-host/wasm/interpreter"() {
    const { interpreterHost } = await import("@keyhole/worker-host/wasm/interpreter");
    hold(
      typeof interpreterHost({ engine: { module: {}, names: {} } } as never).open === "function",
      "it opens nothing",
    );
  },
  async "@keyhole/worker-host/wasm/modules"() {
    const { wasmPackage } = await import("@keyhole/worker-host/wasm/modules");
    const definition = {
      name: "w",
      version: "1.0.0",
      description: "Empty.",
      input: { type: "object" },
      output: { kind: "json" },
    };
    hold(!wasmPackage(definition as never, emptyModule).ok, "a module without a start was packed");
  },
};
