/**
 * One call per export that runs anywhere, for every runtime of docs/runtimes.md: from sources here, from the tarballs in the
 * thorough run. A probe rejects when its call does not do what it should. Each specifier is a literal, for bundlers.
 */

export type Probe = () => Promise<void>;

export function hold(condition: unknown, message: string): asserts condition {
  if (condition !== true) throw new Error(message);
}

function serves({ families }: { readonly families: readonly { readonly kind: string }[] }, kind: string): boolean {
  return families.some((family) => family.kind === kind);
}

/** The empty module of WebAssembly. */
const emptyModule = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
const key = new Uint8Array(32).fill(7);

export const kernelProbes: Readonly<Record<string, Probe>> = {
  async "@keyhole/kernel"() {
    const { createFullKernel, defineTool } = await import("@keyhole/kernel");
    // The policy goes through the linter and the log through its queue.
    const kernel = await createFullKernel({ policy: { version: "1", posture: "standard", grants: [] } });
    const tool = defineTool({
      name: "twice",
      version: "1.0.0",
      description: "Doubles a number.",
      input: { type: "object", properties: { n: { type: "integer" } }, required: ["n"], additionalProperties: false },
      output: { kind: "json" },
      execute: ({ n }) => n * 2,
    });
    hold(kernel.registerTrusted(tool).ok, "the tool was not registered");
    const result = await kernel.call("twice", { n: 21 });
    hold(result.ok && result.data === 42, "the call has no result");
    await kernel.close();
  },
  async "@keyhole/kernel/audit"() {
    const { callbackSink, merkleRoot } = await import("@keyhole/kernel/audit");
    const { createFullKernel, verifyChain } = await import("@keyhole/kernel");
    const lines: unknown[] = [];
    const kernel = await createFullKernel({ sink: callbackSink((batch) => void lines.push(...batch)) });
    await kernel.call("nothing", {});
    await kernel.close();
    hold(lines.length > 0, "nothing was written");
    hold(typeof verifyChain === "function" && typeof merkleRoot === "function", "functions are missing");
  },
  async "@keyhole/kernel/canonical"() {
    const { canonicalize } = await import("@keyhole/kernel/canonical");
    const canonical = canonicalize({ b: 1, a: 2 });
    hold(canonical.ok && canonical.text === '{"a":2,"b":1}', "the keys are not in order");
  },
  async "@keyhole/kernel/context"() {
    const { KeptResults } = await import("@keyhole/kernel/context");
    const text = new KeptResults().textOf({ data: "é".repeat(600), hash: "blake3:00" }, 600, null);
    hold(text.includes('"more":"read_result"') && text.length <= 600, "the output was not cut");
  },
  async "@keyhole/kernel/document-schemas"() {
    const { policyFileSchema } = await import("@keyhole/kernel/document-schemas");
    hold(typeof policyFileSchema === "object", "there is no schema");
  },
  async "@keyhole/kernel/event-schema"() {
    const { eventSchema } = await import("@keyhole/kernel/event-schema");
    hold(typeof eventSchema === "object", "there is no schema");
  },
  async "@keyhole/kernel/fair-semaphore"() {
    const { FairSemaphore } = await import("@keyhole/kernel/fair-semaphore");
    const slots = new FairSemaphore(1);
    const first = slots.take(["a"]);
    const second = slots.take(["b"]);
    hold(first.kind === "held" && second.kind === "queued", "the second request does not wait");
    first.release();
    hold((await second.turn).kind === "held", "the second request has no turn");
  },
  async "@keyhole/kernel/families"() {
    const { Families, netRead } = await import("@keyhole/kernel/families");
    hold(new Families([netRead]).get("net.read") === netRead, "there is no family");
  },
  async "@keyhole/kernel/foreign"() {
    const { membersOf } = await import("@keyhole/kernel/foreign");
    hold(membersOf({ a: 1 }, "a").a === 1, "the member was not read");
  },
  async "@keyhole/kernel/guest"() {
    const guest = await import("@keyhole/kernel/guest");
    hold(typeof guest.runCall === "function", "the guest runs no call");
  },
  async "@keyhole/kernel/inline"() {
    const { inlineHost } = await import("@keyhole/kernel/inline");
    hold(inlineHost().name === "inline", "the host has another name");
  },
  async "@keyhole/kernel/normalizers"() {
    const { normalizers } = await import("@keyhole/kernel/normalizers");
    hold(typeof normalizers([]) === "object", "there are no normalizers");
  },
  async "@keyhole/kernel/foreign-tools"() {
    const { memoryPins } = await import("@keyhole/kernel/foreign-tools");
    hold((await memoryPins().read("files")) === undefined, "an unseen source has pins");
  },
  async "@keyhole/kernel/pipeline"() {
    const { runPipeline } = await import("@keyhole/kernel/pipeline");
    const { createFullKernel } = await import("@keyhole/kernel");
    const kernel = await createFullKernel();
    const done = await runPipeline(kernel, [{ id: "a", tool: "nothing", input: {} }]);
    hold(!done.ok, "a tool that is not there was called");
    await kernel.close();
  },
  async "@keyhole/kernel/policy"() {
    const { lintPolicy, simulationTable } = await import("@keyhole/kernel/policy");
    const { loadPolicy } = await import("@keyhole/kernel");
    const loaded = loadPolicy({ version: "1", posture: "standard", grants: [] });
    hold(loaded.ok && lintPolicy(loaded.value).length === 0, "the empty policy has findings");
    hold(typeof simulationTable([]) === "string", "there is no table");
  },
  async "@keyhole/kernel/replay"() {
    const { readRun } = await import("@keyhole/kernel/replay");
    hold(!(await readRun(["no run"])).ok, "text was taken for a run");
  },
  async "@keyhole/kernel/schema"() {
    const { compileSchema } = await import("@keyhole/kernel/schema");
    const compiled = compileSchema({ type: "string", pattern: "^\\p{Lu}" });
    hold(compiled.ok && compiled.validator.check("Oslo"), "the value was refused");
  },
  async "@keyhole/kernel/schema/explain"() {
    const { explain } = await import("@keyhole/kernel/schema/explain");
    const { compileSchema } = await import("@keyhole/kernel/schema");
    const compiled = compileSchema({ type: "string" }, { explain });
    hold(compiled.ok && !compiled.validator.validate(1).ok, "the value was taken");
  },
  async "@keyhole/kernel/schema/idna"() {
    const { idna } = await import("@keyhole/kernel/schema/idna");
    const { compileSchema } = await import("@keyhole/kernel/schema");
    const compiled = compileSchema({ format: "idn-hostname" }, { formats: "assert", idna });
    hold(compiled.ok && compiled.validator.check("bücher.example"), "the name was refused");
  },
  async "@keyhole/kernel/secrets"() {
    const { secretKeeper } = await import("@keyhole/kernel/secrets");
    hold(typeof secretKeeper({ get: () => undefined }) === "object", "there is no keeper");
  },
  async "@keyhole/kernel/sha256"() {
    const { sha256Hash } = await import("@keyhole/kernel/sha256");
    const empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    hold(sha256Hash.bytes(new Uint8Array()) === empty, "the digest is another");
  },
  async "@keyhole/kernel/statements"() {
    const { classifyStatement } = await import("@keyhole/kernel/statements");
    hold(typeof classifyStatement("SELECT 1") === "object", "the statement was not read");
  },
  async "@keyhole/kernel/stream"() {
    const { hashStream } = await import("@keyhole/kernel/stream");
    const hashed = hashStream([Uint8Array.of(1, 2, 3)]);
    for await (const piece of hashed) hold(piece.length === 3, "the piece is another");
    const whole = await hashed.digest;
    hold(whole.ok && whole.hash.startsWith("blake3:"), "there is not a digest");
  },
  async "@keyhole/kernel/suspend"() {
    const { callSuspender } = await import("@keyhole/kernel/suspend");
    hold(typeof callSuspender({ key }) === "object", "there is no suspender");
  },
  async "@keyhole/kernel/tool-types"() {
    const { toolTypes } = await import("@keyhole/kernel/tool-types");
    const tool = { name: "a", description: "", input: {}, output: { kind: "text" } } as const;
    hold(toolTypes([tool]).includes("a(input?: unknown): Promise<string>"), "the types are other");
  },
  async "@keyhole/kernel/tool"() {
    const { defineTool } = await import("@keyhole/kernel/tool");
    const definition = { name: "a", version: "1.0.0", description: "", input: {}, output: { kind: "text" } } as const;
    hold(defineTool({ ...definition, execute: () => "" }).definition.name === "a", "the tool is not defined");
  },
};

export const workerHostProbes: Readonly<Record<string, Probe>> = {
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
  async "@keyhole/worker-host/content"() {
    const { contentStore } = await import("@keyhole/worker-host/content");
    const { memoryStore } = await import("@keyhole/worker-host/brokers/files");
    hold(typeof contentStore(memoryStore()) === "object", "there is no store");
  },
  async "@keyhole/worker-host/guest"() {
    const { thrownOutcome } = await import("@keyhole/worker-host/guest");
    hold(thrownOutcome(new Error("x")).kind === "threw", "the outcome is another");
  },
  async "@keyhole/worker-host/otel"() {
    const { traced } = await import("@keyhole/worker-host/otel");
    const { createFullKernel } = await import("@keyhole/kernel");
    const kernel = traced(await createFullKernel());
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
