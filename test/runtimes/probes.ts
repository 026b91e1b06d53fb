/**
 * One call per export that runs anywhere, for every runtime of docs/runtimes.md: from sources here, from the tarballs in the
 * thorough run. A probe rejects when its call does not do what it should. Each specifier is a literal, for bundlers.
 */

export type Probe = () => Promise<void>;

export function hold(condition: unknown, message: string): asserts condition {
  if (condition !== true) throw new Error(message);
}

const key = new Uint8Array(32).fill(7);

export const kernelProbes: Readonly<Record<string, Probe>> = {
  async "@keyhole/kernel"() {
    const { createKernel, defineTool } = await import("@keyhole/kernel");
    // The policy goes through the linter and the log through its queue.
    const kernel = await createKernel({ policy: { version: "1", posture: "standard", grants: [] } });
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
    const { createKernel, verifyChain } = await import("@keyhole/kernel");
    const lines: unknown[] = [];
    const kernel = await createKernel({ sink: callbackSink((batch) => void lines.push(...batch)) });
    await kernel.call("nothing", {});
    await kernel.close();
    hold(lines.length > 0, "nothing was written");
    hold(typeof verifyChain === "function" && typeof merkleRoot === "function", "functions are missing");
  },
  async "@keyhole/kernel/compose"() {
    const { composeKernel } = await import("@keyhole/kernel/compose");
    const { sha256Hash } = await import("@keyhole/kernel/sha256");
    const kernel = await composeKernel({ hash: sha256Hash });
    const result = await kernel.call("nothing", {});
    hold(!result.ok && result.error.code === "TOOL_NOT_FOUND", "a tool is there that nobody registered");
    await kernel.close();
  },
  async "@keyhole/kernel/canonical"() {
    const { canonicalize } = await import("@keyhole/kernel/canonical");
    const canonical = canonicalize({ b: 1, a: 2 });
    hold(canonical.ok && canonical.text === '{"a":2,"b":1}', "the keys are not in order");
  },
  async "@keyhole/kernel/limits"() {
    const { ceilings, graceMs } = await import("@keyhole/kernel/limits");
    hold(graceMs === 250 && ceilings.concurrency === 64, "the limits are others");
  },
  async "@keyhole/kernel/context"() {
    const { KeptResults } = await import("@keyhole/kernel/context");
    const text = new KeptResults().textOf({ data: "é".repeat(600), hash: "blake3:00" }, 600, { bytes: 0 });
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
    const { bytesOf } = await import("@keyhole/kernel/foreign");
    hold(bytesOf(new Uint8Array(1))?.length === 1, "the bytes were not read");
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
    const { createKernel } = await import("@keyhole/kernel");
    const kernel = await createKernel();
    const done = await runPipeline(kernel, [{ id: "a", tool: "nothing", input: {} }]);
    hold(!done.ok, "a tool that is not there was called");
    await kernel.close();
  },
  async "@keyhole/kernel/policy"() {
    const { diffPolicies, lintPolicy, simulationTable } = await import("@keyhole/kernel/policy");
    const { policy } = await import("@keyhole/kernel");
    const loaded = policy({ version: "1", posture: "standard", grants: [] });
    hold(loaded.ok && lintPolicy(loaded.value).length === 0, "the empty policy has findings");
    hold(typeof simulationTable([]) === "string", "there is no table");
    hold(!diffPolicies(loaded.value, loaded.value).differs, "a policy differs from itself");
  },
  async "@keyhole/kernel/replay"() {
    const { readRun } = await import("@keyhole/kernel/replay");
    hold(!(await readRun(["no run"])).ok, "text was taken for a run");
  },
  async "@keyhole/kernel/references"() {
    const { referencesIn } = await import("@keyhole/kernel/references");
    hold(referencesIn([{ $from: "body#/a" }]).length === 1, "the reference was not found");
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
  async "@keyhole/kernel/schema/mcp"() {
    const { mcpJsonSchemaValidator } = await import("@keyhole/kernel/schema/mcp");
    hold(!mcpJsonSchemaValidator().getValidator({ type: "string" })(1).valid, "the value was taken");
  },
  async "@keyhole/kernel/schema/rjsf"() {
    const { rjsfValidator } = await import("@keyhole/kernel/schema/rjsf");
    hold(rjsfValidator().validateFormData(1, { type: "string" }).errors.length === 1, "the value was taken");
  },
  async "@keyhole/kernel/schema/standard-schema"() {
    const { standardSchema } = await import("@keyhole/kernel/schema/standard-schema");
    hold(standardSchema({ type: "string" })["~standard"].validate(1).issues?.length === 1, "the value was taken");
  },
  async "@keyhole/kernel/visible"() {
    const { visible } = await import("@keyhole/kernel/visible");
    hold(visible("\u202e") !== "\u202e", "the character is hidden");
  },
  async "@keyhole/kernel/testing"() {
    const { FakeClock } = await import("@keyhole/kernel/testing");
    const clock = new FakeClock(0);
    await clock.advance(5);
    hold(clock.now() === 5, "the clock stands");
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
