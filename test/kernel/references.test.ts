import { canonicalJson, type ContentStore, hashBytes, limits, type ToolPackage } from "@keyhole/kernel";
import { verifyAudit } from "@keyhole/kernel/audit";
import { runPipeline } from "@keyhole/kernel/pipeline";
import { sha256Hash } from "@keyhole/kernel/sha256";
import { memoryStore } from "@keyhole/worker-host/brokers/files";
import { contentStore } from "@keyhole/worker-host/content";
import { describe, expect, expectTypeOf, it } from "vitest";
import { expectSoundLog, openKernel, toolOf } from "../support/kernel.ts";
import { calling, leaf, openCalls } from "../support/nested.ts";

const large = { bounds: { outputBytes: 4_000_000 } };
const textOf = (byteLength: number): string => "x".repeat(byteLength);
const text = { ...large, output: { kind: "text", mediaType: "text/plain" } };

async function call(output: unknown, more: object, options: { references?: boolean } = { references: true }) {
  const content = contentStore(memoryStore());
  const bench = await openKernel({ content });
  expect(bench.kernel.registerTrusted(toolOf(() => output, more as Record<string, unknown>))).toMatchObject({
    ok: true,
  });
  const result = await bench.kernel.call("subject", {}, options);
  await expectSoundLog(bench.kernel);
  if (!result.ok) throw new Error(result.error.message);
  return { ...bench, content, result };
}

describe("an output that is too large to be handed around", () => {
  it("is in the store, and the result has its digest: one past the limit, not at it", async () => {
    const at = await call(textOf(limits.inlineOutputBytes), text);
    expect(at.result).toMatchObject({ data: textOf(limits.inlineOutputBytes) });
    expect(at.result).not.toHaveProperty("reference");
    expect(await at.content.get(at.result.hash)).toBeUndefined();

    const past = await call(textOf(limits.inlineOutputBytes + 1), text);
    const { hash } = past.result;
    expect(past.result.data).toBeNull();
    expect(past.result.reference).toEqual({
      digest: hash,
      byteLength: limits.inlineOutputBytes + 1,
      mediaType: "text/plain",
    });
    const bytes = await past.content.get(hash);
    expect(new TextDecoder().decode(bytes)).toBe(textOf(limits.inlineOutputBytes + 1));
    expect(hashBytes(bytes!)).toBe(hash);
    const log = await past.events();
    expect(await verifyAudit(log)).toMatchObject({ verdict: "unvouched" });
    expect(log.at(-1)).toMatchObject({
      type: "tool.completed",
      payload: { outputHash: hash, outputBytes: limits.inlineOutputBytes + 1 },
    });
  });

  it.each<[string, unknown, object, (output: never) => Uint8Array]>([
    ["JSON", { b: textOf(1_100_000), a: 1 }, large, (output) => new TextEncoder().encode(canonicalJson(output))],
    ["a text in JSON", textOf(1_100_000), large, (output) => new TextEncoder().encode(canonicalJson(output))],
    ["bytes", new Uint8Array(1_100_000).fill(7), { ...large, output: { kind: "binary" } }, (output) => output],
    ["a text", "e\u0301\r\n".repeat(400_000), text, () => new TextEncoder().encode("\u00e9\n".repeat(400_000))],
  ])("is kept in its normal form: %s", async (_, output, more, expected) => {
    const { result, content } = await call(output, more);
    const bytes = expected(output as never);
    expect(result.reference).toMatchObject({ digest: result.hash, byteLength: bytes.length });
    expect(await content.get(result.hash)).toEqual(bytes);
  });

  it("comes as it is where nobody asked, and where there is no store", async () => {
    for (const options of [{}, { references: false }]) {
      const { result } = await call(textOf(1_100_000), text, options);
      expect(result).toMatchObject({ data: textOf(1_100_000) });
      expect(result).not.toHaveProperty("reference");
    }
    const { kernel } = await openKernel();
    kernel.registerTrusted(toolOf(() => textOf(1_100_000), text));
    const result = await kernel.call("subject", {}, { references: true });
    expect(result).toMatchObject({ ok: true, data: textOf(1_100_000) });
  });

  it("comes as it is, with a warning, where the store fails", async () => {
    const failing: ContentStore = {
      put: () => Promise.reject(new Error("full")),
      get: async () => undefined,
      delete: async () => {},
    };
    const { kernel } = await openKernel({ content: failing });
    kernel.registerTrusted(toolOf(() => textOf(1_100_000), text));
    expect(await kernel.call("subject", {}, { references: true })).toMatchObject({
      ok: true,
      data: textOf(1_100_000),
      meta: { warnings: ["The content store failed, so the result contains the whole output."] },
    });
    expect(await kernel.call("subject", {})).toMatchObject({ ok: true });
  });

  it("is put there before the call's end is on record", async () => {
    const order: string[] = [];
    const store = contentStore(memoryStore());
    const content: ContentStore = {
      ...store,
      async put(digest, bytes) {
        await store.put(digest, bytes);
        order.push("stored");
      },
    };
    const { kernel } = await openKernel({ content });
    kernel.registerTrusted(toolOf(() => textOf(1_100_000), text));
    kernel.audit.subscribe(({ type }) => type === "tool.completed" && order.push(type));
    await kernel.call("subject", {}, { references: true });
    expect(order).toEqual(["stored", "tool.completed"]);
  });

  it("is by reference for whom another call's result is given too, if asked for", async () => {
    const content = contentStore(memoryStore());
    const { kernel } = await openKernel({ content });
    let runs = 0;
    kernel.registerTrusted(toolOf(() => textOf(1_100_000 + ++runs), text));
    const keyed = (references: boolean) => kernel.call("subject", {}, { idempotencyKey: "k", references });
    const [whole, referred] = [await keyed(false), await keyed(true)];
    if (!whole.ok || !referred.ok) throw new Error("it did not run");
    expect(whole.data).toBe(textOf(1_100_001));
    expect(referred).toMatchObject({
      data: null,
      hash: whole.hash,
      reference: { digest: whole.hash, byteLength: 1_100_001, mediaType: "text/plain" },
      meta: { cached: true },
    });
    expect(await content.get(whole.hash)).toHaveLength(1_100_001);
  });

  it("is whole within the call that calls from within, whatever the outer one asked for", async () => {
    const content = contentStore(memoryStore());
    const { kernel } = await openKernel({ content, policy: openCalls });
    kernel.registerTrusted(leaf("inner", () => textOf(1_100_000), large));
    kernel.registerTrusted(
      calling("outer", async (_, { tools }) => {
        const answer = await tools.call("inner", {});
        return answer.ok ? String(answer.data).length : answer.error.code;
      }),
    );
    expect(await kernel.call("outer", {}, { references: true })).toMatchObject({ ok: true, data: 1_100_000 });
  });

  it("is whole for the steps of a pipeline", async () => {
    const { kernel } = await openKernel({ content: contentStore(memoryStore()) });
    kernel.registerTrusted(toolOf(() => textOf(1_100_000), { ...large, name: "make" }));
    kernel.registerTrusted(toolOf(({ text: given }: { text: string }) => given.length, { name: "measure" }));
    const steps = [
      { id: "made", tool: "make", input: {} },
      { id: "measured", tool: "measure", input: { text: { $from: "made#" } } },
    ];
    expect(await runPipeline(kernel, steps, { references: true })).toMatchObject({ ok: true, data: 1_100_000 });
  });

  it("has a digest in the kernel's algorithm", async () => {
    const content = contentStore(memoryStore());
    const { kernel } = await openKernel({ content, hash: sha256Hash });
    kernel.registerTrusted(toolOf(() => textOf(1_100_000), text));
    const result = await kernel.call("subject", {}, { references: true });
    expect(result).toMatchObject({ ok: true, reference: { digest: sha256Hash.text(textOf(1_100_000)) } });
  });

  it("is refused as before where it is larger than the call may return", async () => {
    const { kernel } = await openKernel({ content: contentStore(memoryStore()) });
    kernel.registerTrusted(toolOf(() => textOf(4_000_001), text));
    expect(await kernel.call("subject", {}, { references: true })).toMatchObject({
      ok: false,
      error: { code: "BOUNDS_EXCEEDED" },
    });
  });
});

it("refuses references that are no boolean", async () => {
  const { kernel } = await openKernel();
  kernel.registerTrusted(toolOf(() => 1));
  expect(await kernel.call("subject", {}, { references: "yes" as never })).toMatchObject({
    error: { code: "INVALID_INPUT" },
  });
});

it("what looks like a reference in an output is none", async () => {
  const { result } = await call({ reference: { digest: `blake3:${"0".repeat(64)}`, byteLength: 1 } }, large);
  expect(result).not.toHaveProperty("reference");
});

it("the type says that there may be no data", async () => {
  const { kernel } = await openKernel();
  const tool = {} as ToolPackage<object, { readonly n: number }>;
  const whole = () => kernel.call(tool, {});
  const referred = () => kernel.call(tool, {}, { references: true });
  const [one, two] = [await whole(), await referred()];
  if (one.ok) expectTypeOf(one.data).toEqualTypeOf<{ readonly n: number }>();
  if (two.ok) expectTypeOf(two.data).toEqualTypeOf<{ readonly n: number } | null>();
});
