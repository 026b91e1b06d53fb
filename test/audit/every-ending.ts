import type { Broker, CallResult, JsonValue, KernelOptions } from "@keyhole/kernel";
import { fsRead } from "@keyhole/kernel/families";
import { memoryStore } from "@keyhole/worker-host/brokers/files";
import { contentStore } from "@keyhole/worker-host/content";
import { expect } from "vitest";
import { openKernel, toolOf } from "../support/kernel.ts";
import { moduleHost, packed } from "../support/module-host.ts";
import { registerAny } from "../support/registered.ts";

export const policy = {
  version: "1",
  posture: "permissive",
  labels: { untrusted: { tools: ["reader"] } },
  grants: [
    { tool: "reader", capability: { kind: "fs.read", paths: ["**"] } },
    { tool: "caller", capability: { kind: "tool.call", tools: ["*"] } },
  ],
  rules: [
    { id: "ask", effect: "ask", reason: "Large.", when: { arguments: [{ at: "/amount", moreThan: 100 }] } },
    { id: "eve", effect: "deny", reason: "Not Eve.", when: { caller: ["eve"] } },
  ],
  tools: { subject: { keep: { input: ["/amount"] }, rate: { calls: 1_000, windowMs: 60_000 } } },
};

const files: Broker = {
  families: [fsRead],
  needs: ({ arguments: { path } }) => ({ ok: true, needs: [{ kind: "fs.read", path: String(path) }] }),
  serve: async () => ({ ok: true, value: null, body: new TextEncoder().encode("content") }),
};

export const subject = toolOf(({ amount, fail }: { amount: number; fail?: boolean }) => {
  if (fail === true) throw new Error("failed");
  return { amount };
});
const reader = toolOf(
  async (_: never, { files: store }: { files: { read(path: string): Promise<Uint8Array> } }) =>
    new TextDecoder().decode(await store.read("a.txt")),
  {
    name: "reader",
    effects: ["fs.read"],
    determinism: "external",
    capabilities: [{ kind: "fs.read", paths: ["**"] }],
    output: { kind: "text" },
  },
);
const caller = toolOf(
  async (_: never, { tools }: { tools: { call(name: string, input: unknown): Promise<unknown> } }) => {
    await tools.call("subject", { amount: 2 });
    return null;
  },
  { name: "caller", determinism: "external", capabilities: [{ kind: "tool.call", tools: ["*"] }] },
);
export const double = toolOf(({ n }: { n: number }) => n * 2, { name: "double", determinism: "pure" });

/** Calls that end in every way that hashes something. */
export async function work(options: KernelOptions) {
  const content = contentStore(memoryStore());
  const bench = await openKernel({
    policy,
    content,
    brokers: [files],
    host: moduleHost(double),
    approver: async ({ input }) =>
      (input as { amount: number }).amount === 666
        ? { answer: "edit", input: { amount: 7 }, approver: "ada" }
        : { answer: "allow", scope: "session", approver: "ada" },
    ...options,
  });
  const { kernel } = bench;
  for (const tool of [subject, reader, caller, packed(double)])
    expect(registerAny(kernel, tool)).toMatchObject({ ok: true });
  const results: CallResult[] = [];
  const call = async (name: string, input: JsonValue, more: Parameters<typeof kernel.call>[2] = {}): Promise<void> => {
    results.push(await kernel.call(name, input, more));
  };
  await call("subject", { amount: 1 }, { idempotencyKey: "key" });
  await call("subject", { amount: 1 }, { idempotencyKey: "key" });
  await call("subject", { amount: 1, fail: true });
  await call("subject", { amount: 200 }, { sessionId: "s" });
  await call("subject", { amount: 200 }, { sessionId: "s" });
  await call("subject", { amount: 666 });
  await call("subject", { amount: 1 }, { caller: "eve" });
  await call("subject", { amount: 1 }, { caller: "x".repeat(300), correlationId: "y".repeat(300) });
  await call("reader", {});
  await call("reader", {}, { grants: [] });
  await call("caller", {});
  await call("double", { n: 2 });
  await call("double", { n: 2 });
  await call("nobody", {});
  await kernel.setPolicy({ ...policy, version: "2" });
  return { ...bench, content, results, log: await bench.events() };
}
