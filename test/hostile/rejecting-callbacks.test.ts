import {
  type Approver,
  type Broker,
  type CallOptions,
  createKernel,
  type Isolate,
  type Kernel,
  type KernelOptions,
  memorySink,
  type SecretKeeper,
  type ToolContext,
} from "@keyhole/kernel";
import { fsRead } from "@keyhole/kernel/families";
import { normalizers } from "@keyhole/kernel/normalizers";
import { callSuspender } from "@keyhole/kernel/suspend";
import { memoryStore } from "@keyhole/worker-host/brokers/files";
import { contentStore } from "@keyhole/worker-host/content";
import { traced } from "@keyhole/worker-host/otel";
import { describe, expect, it } from "vitest";
import { noSecrets } from "../../packages/kernel/src/capability/secret.ts";
import { FakeClock, passUntil } from "../support/fake-clock.ts";
import { granting, toolOf } from "../support/kernel.ts";
import { calling } from "../support/nested.ts";
import { unhandledDuring } from "../support/rejections.ts";
import { bodySource, sink } from "../support/streams.ts";
import { testKey } from "../support/suspension.ts";
import { walked } from "../support/walked.ts";
import { hostOf, packed, returned } from "./rereads/hosts.ts";

/*
 * Whoever writes a listener, a sink or a broker may write `async` before it, and may forget what it rejects with. Under Node an unhandled rejection ends the process. So
 * each function and each promise that a kernel is given rejects here once, and nothing of it is left to the process.
 */

/** Whether an option is called by the kernel. One that is new has to say so. */
const kernelOptions = {
  host: "called",
  reuse: "data",
  policy: "data",
  brokers: "called",
  families: "data",
  sink: "called",
  content: "called",
  approver: "called",
  clock: "called",
  mode: "data",
  verifyEarlier: "called",
  modeTriggers: "data",
  resources: "called",
  cache: "data",
  secrets: "called",
  suspender: "called",
  signer: "called",
  hash: "data",
  normalizers: "called",
} as const satisfies Record<keyof KernelOptions, "called" | "data">;

const callOptions = {
  version: "data",
  caller: "data",
  sessionId: "data",
  correlationId: "data",
  traceparent: "data",
  grants: "data",
  bounds: "data",
  idempotencyKey: "data",
  cache: "data",
  raw: "data",
  references: "data",
  waitMs: "data",
  signal: "called",
  approver: "called",
  nestedApprover: "called",
  output: "called",
  body: "called",
  onEvent: "called",
  onLog: "called",
  onProgress: "called",
} as const satisfies Record<keyof CallOptions, "called" | "data">;

const files = { kind: "fs.read", paths: ["open/**"] } as const;
const callsAll = { tool: "*", capability: { kind: "tool.call", tools: ["*"] } } as const;
const granted = granting(files);
const tool = { determinism: "external", effects: ["fs.read"], capabilities: [files] } as const;

const allow: Approver = async () => ({ answer: "allow", approver: "ada", scope: "once" });
const broker: Broker = {
  families: [fsRead],
  needs: () => ({ ok: true, needs: [{ kind: "fs.read", path: "open/a" }] }),
  serve: async () => ({ ok: true, value: { name: "a" } }),
};
const keeper: SecretKeeper = { families: [], open: () => noSecrets };

/** Says something, asks for something, and returns. */
const inIsolate: Isolate["call"] = async (_, port) => {
  port.log({ level: "info", message: "begun" });
  port.progress({ done: 1 });
  await port.request({ kind: "fs.read", operation: "stat", arguments: { path: "open/a" } });
  return returned(1);
};

type Walk = <T extends object>(given: T) => T;

function openOptions(walk: Walk, clock: FakeClock): KernelOptions {
  const given = walk({
    host: hostOf(inIsolate, { check: () => undefined, enforces: () => [] }),
    broker,
    sink: memorySink(),
    verifyEarlier: () => {},
    content: contentStore(memoryStore()),
    approver: allow,
    clock,
    resources: { freeSpaceBytes: async () => 1, freeMemoryBytes: async () => 1 },
    secrets: keeper,
    signer: { sign: async (proof: object) => ({ ...proof, signature: { alg: "EdDSA", kid: "k", value: "v" } }) },
    suspender: { claim: () => true },
    normalizers: { name: "same", version: "1.0.0", normalize: (output: unknown) => output },
  });
  const { broker: walkedBroker, ...rest } = given;
  return {
    ...rest,
    brokers: [walkedBroker],
    normalizers: normalizers([given.normalizers]),
    suspender: callSuspender({ key: testKey, claim: given.suspender.claim }),
    signer: given.signer as never,
    modeTriggers: [
      { on: "space", freeBytes: 1, to: "ALERT" },
      { on: "memory", freeBytes: 1, to: "ALERT" },
    ],
    policy: { ...granted, grants: [...(granted.grants ?? []), callsAll], tools: { packed: { keep: { input: [""] } } } },
  };
}

const heard = { onEvent: () => {}, onLog: () => {}, onProgress: () => {}, approver: allow };

/** What a program does with a kernel. Whatever it is answered, it is told, and not by the process. */
async function everything(kernel: Kernel, walk: Walk): Promise<void> {
  const quietly = async (done: unknown): Promise<void> => void (await Promise.resolve(done).catch(() => undefined));
  kernel.audit.subscribe(walk({ subscribe: () => {} }).subscribe);
  kernel.onToolsChange(walk({ onToolsChange: () => {} }).onToolsChange);
  kernel.register(packed({ ...tool, approval: "always" }));
  const asking = toolOf(() => 1, { name: "asking", approval: "always", normalization: { custom: "same" } });
  const flowing = toolOf((_: never, { body }: ToolContext) => body, {
    name: "flowing",
    output: { kind: "stream" },
    body: {},
  });
  const within = calling("within", (_, { tools }) => tools.call("asking"));
  for (const each of [asking, flowing, within]) kernel.registerTrusted(each);
  const { signal } = new AbortController();
  await quietly(kernel.call("packed", {}, walk({ signal, ...heard })));
  await quietly(kernel.call("asking", {}));
  await quietly(kernel.call("within", {}, walk({ nestedApprover: allow })));
  await quietly(kernel.call("nobody", {}, walk({ onEvent: () => {} })));
  const { output } = sink();
  const { body } = bodySource([new Uint8Array([1])]);
  await quietly(kernel.call("flowing", {}, walk({ output, body })));
  await quietly(kernel.preview("asking", {}));
  await quietly(kernel.health("packed"));
  await quietly(kernel.verifyPure("packed", [{}], 2));
  await quietly(suspendedAndResumed(kernel, walk));
  await quietly(kernel.audit.read());
  await quietly(kernel.close());
}

async function suspendedAndResumed(kernel: Kernel, walk: Walk): Promise<void> {
  const asked = Promise.withResolvers<string>();
  const approver: Approver = ({ callId }) => {
    asked.resolve(callId);
    return new Promise(() => {});
  };
  const ended = kernel.call("asking", {}, { approver }).then(({ callId }) => callId);
  const suspension = await kernel.suspend(await Promise.race([asked.promise, ended]));
  if (suspension.ok) await kernel.resume(suspension.bytes, walk({ ...heard }));
  await ended;
}

async function run(places: Set<string>, broken?: string): Promise<readonly unknown[]> {
  const walk: Walk = (given) => walked(given, places, broken);
  const clock = new FakeClock();
  return unhandledDuring(async () => {
    const opened = createKernel(openOptions(walk, clock));
    const all = opened.then((kernel) => everything(traced(kernel), walk)).catch(() => undefined);
    // What waits for an answer that never comes has its deadline.
    await passUntil(
      clock,
      opened.catch(() => undefined),
      all,
    );
  });
}

const known = new Set<string>();
await run(known);

/** Of the program's own objects, and no promise by their type: the kernel takes them at their word. */
const atOnce: readonly string[] = [
  ...["now", "monotonicMs", "after", "after()"].map((name) => `.clock.${name}`),
  ".host.check",
  ".host.enforces",
  ".host.open().terminate",
  ".secrets.open",
  ".secrets.open().takeUses",
];

it("the walk reaches each option that is called", () => {
  const reached = new Set([...known].map((place) => /^\.(\w+)/.exec(place)?.[1]));
  const called = Object.entries({ ...kernelOptions, ...callOptions, subscribe: "called", onToolsChange: "called" })
    .filter(([, how]) => how === "called")
    .map(([name]) => (name === "brokers" ? "broker" : name));
  expect(called.filter((name) => !reached.has(name))).toEqual([]);
});

describe("each function and each promise that a kernel is given may reject", () => {
  it.each([...known].filter((place) => !atOnce.includes(place)))("%s", async (place) => {
    expect(await run(new Set(), place)).toEqual([]);
  });
});
