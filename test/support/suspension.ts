import {
  blake3Hash,
  type Approver,
  type AuditEvent,
  type Broker,
  type CallOptions,
  type CallResult,
  createKernel,
  defineTool,
  type IsolateHost,
  type Kernel,
  type KernelOptions,
  manifestOf,
  packageHash,
  type Proof,
  type ToolPackage,
} from "@keyhole/kernel";
import { callSuspender, type SuspenderOptions } from "@keyhole/kernel/suspend";
import { filesBroker, memoryStore } from "@keyhole/worker-host/brokers/files";
import { expect } from "vitest";

/** Only tests have it. */
export const testKey = new Uint8Array(32).map((_, at) => at + 1);

export function packageOf(name: string, body: string, more: Record<string, unknown>): ToolPackage {
  const definition = {
    name,
    version: "1.0.0",
    description: "Under test.",
    input: { type: "object" },
    output: { kind: "json" },
    determinism: "external",
    execute: () => null,
    ...more,
  };
  const manifest = manifestOf(defineTool(definition as unknown as Parameters<typeof defineTool>[0]), "module");
  const code = `export default { code: { async execute(input, context) { ${body} } } };`;
  return { manifest, code, hash: packageHash(manifest, code, blake3Hash) ?? "" };
}

const files = [
  { kind: "fs.read", paths: ["**"] },
  { kind: "fs.write", paths: ["**"] },
];

/** Reads two files at once, keeps them in its memory meanwhile, and writes a third. */
export const patient = packageOf(
  "patient",
  `const text = (bytes) => new TextDecoder().decode(bytes);
   context.log("begun");
   const [a, b] = await Promise.all([context.files.read("a"), context.files.read("b")]);
   await context.files.write("c", new TextEncoder().encode(text(a) + text(b)));
   context.log("done");
   return { read: [text(a), text(b)], wrote: text(await context.files.read("c")), callId: context.callId.length };`,
  { effects: ["fs.read", "fs.write"], capabilities: files },
);

/** Writes once, and says so. */
const careful = packageOf(
  "careful",
  `await context.files.write("c", new TextEncoder().encode("written")); return "written";`,
  { effects: ["fs.write"], capabilities: [files[1]] },
);

/** Asks another tool, and hands on what it got, or why it got nothing. */
export const relaying = packageOf(
  "relaying",
  `try { return { got: await context.tools.call(input.tool, input.input) }; } catch (error) { return { code: error.code }; }`,
  { capabilities: [{ kind: "tool.call", tools: ["*"] }] },
);

/** Somebody has to allow it. */
export const guarded = packageOf("guarded", `return { done: input };`, { approval: "always" });

export const openGrants = [
  ...files.map((capability) => ({ tool: "*", capability })),
  { tool: "*", capability: { kind: "tool.call", tools: ["*"] } },
];
export const policy = { version: "1", posture: "permissive", grants: openGrants } as const;

/** A broker of files whose answers come when the test says so. */
export interface SlowFiles extends Broker {
  /** What was asked for and not answered, as `operation path`. */
  readonly waiting: readonly string[];
  /** Everything that was asked for. */
  readonly asked: readonly string[];
  /** Answers what waits, and what comes from now on. */
  open(): void;
  /** Lets only these through from now on. */
  answer(...requests: readonly string[]): void;
  untilAsked(...requests: readonly string[]): Promise<void>;
}

export async function slowFiles(isOpen = false): Promise<SlowFiles> {
  const store = memoryStore();
  const inner = filesBroker(store);
  const session = { signal: new AbortController().signal, refusal: () => undefined, spend: () => undefined, limit: () => Infinity } as never; // prettier-ignore
  for (const path of ["a", "b"]) {
    const body = new TextEncoder().encode(`content of ${path}`);
    await inner.serve({ kind: "fs.write", operation: "write", arguments: { path }, body }, session);
  }
  const asked: string[] = [];
  const waiting = new Set<{ readonly name: string; readonly go: () => void }>();
  const through = new Set<string>();
  const watchers = new Set<() => void>();
  let open = isOpen;
  return {
    families: inner.families,
    needs: (request) => inner.needs(request),
    async serve(request, own) {
      const name = `${request.operation} ${String(request.arguments["path"])}`;
      asked.push(name);
      for (const watcher of watchers) watcher();
      if (!open && !through.has(name)) {
        const aborted = new Promise<void>((resolve) =>
          own.signal.addEventListener("abort", () => resolve(), { once: true }),
        );
        const answered = Promise.withResolvers<void>();
        const entry = { name, go: answered.resolve };
        waiting.add(entry);
        await Promise.race([answered.promise, aborted]);
        waiting.delete(entry);
        if (own.signal.aborted) return { ok: false, error: { code: "CANCELLED", message: "It ended.", hint: "" } };
      }
      return inner.serve(request, own);
    },
    get waiting() {
      return [...waiting].map(({ name }) => name);
    },
    asked,
    open() {
      open = true;
      for (const { go } of waiting) go();
    },
    answer(...requests) {
      for (const request of requests) {
        through.add(request);
        for (const { name, go } of waiting) if (name === request) go();
      }
    },
    untilAsked: (...requests) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!requests.every((request) => asked.includes(request))) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
  };
}

/** What kernels with logs of their own share. */
export function claimOnce(): NonNullable<SuspenderOptions["claim"]> {
  const claimed = new Set<string>();
  return (snapshotId) => !claimed.has(snapshotId) && claimed.add(snapshotId).size > 0;
}

export interface SuspendingKernel {
  readonly kernel: Kernel;
  readonly files: SlowFiles;
  readonly events: () => Promise<readonly AuditEvent[]>;
}

export async function suspendingKernel(
  host: IsolateHost,
  {
    suspension,
    tools = [patient, careful, relaying, guarded],
    files: given,
    ...options
  }: KernelOptions & {
    readonly suspension?: Partial<SuspenderOptions>;
    readonly tools?: readonly ToolPackage[];
    readonly files?: SlowFiles;
  } = {},
): Promise<SuspendingKernel> {
  const slow = given ?? (await slowFiles());
  const kernel = await createKernel({
    host,
    policy,
    brokers: [slow],
    // Each kernel without a sink of its own has a log of its own.
    suspender: callSuspender({
      key: testKey,
      ...(options.sink === undefined && { claim: claimOnce() }),
      ...suspension,
    }),
    ...options,
  });
  for (const tool of tools) expect(kernel.register(tool)).toMatchObject({ ok: true });
  return { kernel, files: slow, events: () => kernel.audit.read() };
}

/** Calls the kernel's tool, and suspends it as soon as somebody is asked. */
export async function suspendedQuestion(kernel: Kernel): Promise<CallResult> {
  const asked = Promise.withResolvers<string>();
  const onEvent = ({ type, callId }: AuditEvent): void => {
    if (type === "approval.requested") asked.resolve(callId!);
  };
  const result = kernel.call(kernel.list()[0]!.manifest.name, {}, { onEvent });
  await kernel.suspend(await asked.promise);
  return result;
}

/** A call that was made and not waited for. */
export interface Underway {
  readonly callId: string;
  readonly result: Promise<CallResult>;
}

/** Makes a call and waits until it is on record. */
export async function begin(kernel: Kernel, tool: string, input: unknown, options: object = {}): Promise<Underway> {
  const named = Promise.withResolvers<string>();
  const onEvent = ({ type, callId, payload }: AuditEvent): void => {
    if (type === "call.invoked" && payload.parentCallId === null) named.resolve(callId!);
  };
  const result = kernel.call(tool, input, { sessionId: "session", ...options, onEvent });
  // A call whose first event is written only when it starts has one by then.
  return { callId: await named.promise, result };
}

/** Suspends it. */
export async function bytesOf(kernel: Kernel, { callId, result }: Underway): Promise<Uint8Array<ArrayBuffer>> {
  const suspension = await kernel.suspend(callId, { waitMs: 0 });
  if (!suspension.ok) throw new Error(suspension.error.message);
  expect(await result).toMatchObject({ ok: false, callId, error: { code: "SUSPENDED" } });
  return suspension.bytes;
}

/** A call, and what its approver was asked when that is there. */
export async function asking(
  kernel: Kernel,
  tool: string,
  input: unknown,
  options: CallOptions = {},
): Promise<Underway & { readonly approvalId: string }> {
  const asked = Promise.withResolvers<string>();
  const approver: Approver = ({ approvalId }) => {
    asked.resolve(approvalId);
    return new Promise(() => {});
  };
  const call = await begin(kernel, tool, input, { ...options, approver, nestedApprover: approver });
  return { ...call, approvalId: await asked.promise };
}

/** What a result says, without what is new with every call. */
export function comparable(result: CallResult): unknown {
  const { meta, proof, callId: _, ...rest } = result;
  const { durationMs: _d, queuedMs: _q, traceparent: _t, ...cost } = meta;
  return { ...rest, cost, proof: proof && comparableProof(proof) };
}

function comparableProof(proof: Proof): unknown {
  const { proofId: _i, callId: _c, parentProofId: _p, decidedAt: _d, traceparent: _t, hash: _h, ...more } = proof;
  const { approval, ...rest } = more;
  return {
    ...rest,
    approval: approval && { ...approval, approvalId: "", nonce: "", expiresAt: "" },
  };
}

/** The journal of a call, as the log has it. */
export function journalOf(events: readonly AuditEvent[], callId: string): unknown {
  return events
    .filter((event) => event.callId === callId && event.type === "capability.used")
    .map(({ payload }) => payload)
    .toSorted((a, b) => (a as { index: number }).index - (b as { index: number }).index);
}

export const typesOf = (events: readonly AuditEvent[], callId: string): readonly string[] =>
  events.filter((event) => event.callId === callId).map(({ type }) => type);
