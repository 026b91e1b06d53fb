import { createKernel, type JsonValue, type ToolContext } from "@keyhole/kernel";
import { filesBroker, memoryStore } from "@keyhole/worker-host/brokers/files";
import { describe, expect, it } from "vitest";
import { expectSoundLog, openKernel, openPolicy, toolOf } from "../support/kernel.ts";

const giving = { determinism: "external", output: { kind: "binary", transfer: true } };
const bytes = (...values: number[]): Uint8Array<ArrayBuffer> => Uint8Array.from(values);
const leave = (given: unknown): unknown => structuredClone(given, { transfer: [(given as Uint8Array).buffer] });

describe("a tool of this realm that gives away bytes which it did not make", () => {
  it("does not take them from a store", async () => {
    const store = memoryStore();
    const kernel = await createKernel({
      policy: {
        ...openPolicy,
        grants: ["fs.read", "fs.write"].map((kind) => ({ tool: "subject", capability: { kind, paths: ["**"] } })),
      },
      brokers: [filesBroker(store)],
    });
    const capabilities = ["fs.read", "fs.write"].map((kind) => ({ kind, paths: ["**"] }));
    const effects = ["fs.read", "fs.write"];
    const execute = async ({ write }: { write?: boolean }, { files }: ToolContext): Promise<Uint8Array> => {
      if (!write) return files.read("a");
      const own = bytes(1, 2, 3);
      await files.write("a", own);
      return own;
    };
    kernel.registerTrusted(toolOf(execute, { ...giving, effects, capabilities }));
    for (const input of [{ write: true }, {}, {}])
      expect(await kernel.call("subject", input)).toMatchObject({ ok: true, data: bytes(1, 2, 3) });
    await expectSoundLog(kernel);
  });

  it("does not take them from the tool that it called, nor from others that have the same result", async () => {
    const { kernel } = await openKernel({
      policy: { ...openPolicy, grants: [{ tool: "outer", capability: { kind: "tool.call", tools: ["inner"] } }] },
    });
    const kept = bytes(1, 2, 3);
    kernel.registerTrusted(toolOf(() => kept, { name: "inner", determinism: "external", output: { kind: "binary" } }));
    const execute = async (_: unknown, { tools }: ToolContext) => {
      const answer = await tools.call("inner");
      return answer.ok && answer.bytes;
    };
    kernel.registerTrusted(
      toolOf(execute, { ...giving, name: "outer", capabilities: [{ kind: "tool.call", tools: ["inner"] }] }),
    );
    for (let i = 0; i < 2; i++)
      expect(await kernel.call("outer", {})).toMatchObject({ ok: true, data: bytes(1, 2, 3) });
    expect(kept.length).toBe(3);
    await expectSoundLog(kernel);
  });

  it("does not take a piece of its body from the caller", async () => {
    const { kernel } = await openKernel();
    const execute = async (_: unknown, { body }: ToolContext) => {
      for await (const piece of body) return piece;
      return bytes();
    };
    kernel.registerTrusted(toolOf(execute, { ...giving, body: {} }));
    const own = bytes(1, 2, 3);
    const body = new ReadableStream({ start: (controller) => (controller.enqueue(own), controller.close()) });
    expect(await kernel.call("subject", {}, { body })).toMatchObject({ ok: true, data: bytes(1, 2, 3) });
    expect(own.length).toBe(3);
  });
});

describe("a caller that gives away the bytes of its result", () => {
  it.each<[string, Record<string, JsonValue>]>([
    ["gave away", giving],
    ["copied", { ...giving, output: { kind: "binary" } }],
  ])("does not take them from another that has the same, of a tool that %s its own", async (_, more) => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(toolOf(() => bytes(1, 2, 3), more));
    for (let i = 0; i < 3; i++) {
      const result = await kernel.call("subject", {}, { idempotencyKey: "k" });
      expect(result).toMatchObject({ ok: true, data: bytes(1, 2, 3), meta: { cached: i > 0 } });
      if (result.ok) leave(result.data);
    }
    await expectSoundLog(kernel);
  });
});
