import { type Broker, createKernel } from "@keyhole/kernel";
import { fsRead, fsWrite } from "@keyhole/kernel/families";
import { describe, expect, it } from "vitest";
import { openKernel, openPolicy, toolOf } from "../support/kernel.ts";
import { calling, leaf, openCalling } from "../support/nested.ts";

/** Characters of everything that a failed call says. */
const sizeOf = (result: unknown): number => JSON.stringify((result as { readonly error: unknown }).error).length;

describe("the error of a broken contract", () => {
  const name = "n".repeat(400_000);

  it("has a bound where a tool returns members with very long names", async () => {
    const { kernel } = await openKernel();
    const strict = {
      kind: "json",
      schema: { type: "object", additionalProperties: { type: "object", additionalProperties: { type: "integer" } } },
    };
    const members = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`${i}`, { [name]: "x" }]));
    kernel.registerTrusted(toolOf(() => members, { output: strict, bounds: { outputBytes: 25_000_000 } }));
    const result = await kernel.call("subject", {});
    expect(result).toMatchObject({ ok: false, error: { code: "INVALID_OUTPUT" } });
    expect(sizeOf(result)).toBeLessThan(100_000);
  });

  it("has a bound where a caller sends members with very long names", async () => {
    const { kernel } = await openKernel();
    const input = { type: "object", additionalProperties: { type: "integer" } };
    kernel.registerTrusted(toolOf(() => 1, { input }));
    const result = await kernel.call("subject", { [name]: "x", [`${name}\ud800`.toWellFormed()]: {} });
    expect(result).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
    expect(sizeOf(result)).toBeLessThan(10_000);
    const deep = await kernel.call("subject", { [name]: Number.NaN });
    expect(deep).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
    expect(sizeOf(deep)).toBeLessThan(2_000);
  });

  it("that is stored for an idempotency key is small, however large the output was", async () => {
    const kernel = await createKernel({ policy: openPolicy });
    const output = { kind: "json", schema: { type: "object", additionalProperties: { type: "string" } } };
    const bounds = { outputBytes: 24_000_000 };
    kernel.registerTrusted(toolOf(() => ({ ["k".repeat(12_000_000)]: 1 }), { output, bounds }));
    const call = (idempotencyKey: string) => kernel.call("subject", {}, { idempotencyKey });
    const first = await call("first");
    expect(first).toMatchObject({ ok: false, error: { code: "INVALID_OUTPUT" } });
    expect(JSON.stringify(first).length).toBeLessThan(10_000);
    for (const key of ["second", "third", "fourth"]) await call(key);
    expect(await call("first")).toMatchObject({ ok: false, error: { code: "INVALID_OUTPUT" }, meta: { cached: true } });
  });
});

describe("a total of file bytes", () => {
  const broker: Broker = {
    families: [fsRead, fsWrite],
    needs: ({ kind, body }) => ({
      ok: true,
      needs: [{ kind: kind as "fs.write", path: "a", ...(body && { bytes: body.byteLength }) }],
    }),
    serve: async ({ kind }) =>
      kind === "fs.read" ? { ok: true, value: null, body: new Uint8Array(4) } : { ok: true, value: null },
  };
  const count = async (
    more: object,
    ask: (files: {
      read: (path: string) => Promise<unknown>;
      write: (path: string, data: string) => Promise<unknown>;
    }) => Promise<unknown>,
  ) => {
    const grants = (["fs.read", "fs.write"] as const).map((kind) => ({
      tool: "*",
      capability: { kind, paths: ["**"], ...more },
    }));
    const { kernel } = await openKernel({ policy: { ...openPolicy, grants }, brokers: [broker] });
    const capabilities = grants.map(({ capability: { kind } }) => ({ kind, paths: ["**"] }));
    kernel.registerTrusted(
      toolOf(
        async (_, { files }: { files: never }) => {
          let done = 0;
          try {
            for (; done < 10; done++) await ask(files);
          } catch (error) {
            return [done, (error as { code?: string }).code];
          }
          return [done];
        },
        { capabilities, effects: ["fs.read", "fs.write"], determinism: "external" },
      ),
    );
    const result = await kernel.call("subject", {});
    return result.ok ? result.data : result.error;
  };

  it("ends a call that exceeds it, reads and writes counted apart", async () => {
    expect(await count({}, (files) => files.write("a", "1234"))).toEqual([10]);
    expect(await count({ totalBytes: 12 }, (files) => files.write("a", "1234"))).toEqual([3, "BOUNDS_EXCEEDED"]);
    expect(await count({ totalBytes: 11 }, (files) => files.write("a", "1234"))).toEqual([2, "BOUNDS_EXCEEDED"]);
    expect(await count({ totalBytes: 12 }, (files) => files.read("a"))).toEqual([3, "BOUNDS_EXCEEDED"]);
    const both = await count({ totalBytes: 8 }, async (files) => {
      await files.read("a");
      await files.write("a", "1234");
    });
    expect(both).toEqual([2, "BOUNDS_EXCEEDED"]);
  });

  it("covers a call and its nested calls together", async () => {
    let bytes = 0;
    const store: Broker = {
      families: [fsWrite],
      needs: ({ body }) => ({ ok: true, needs: [{ kind: "fs.write", path: "a", bytes: body?.byteLength ?? 0 }] }),
      serve: async ({ body }) => {
        bytes += body?.byteLength ?? 0;
        return { ok: true, value: null };
      },
    };
    const answers: boolean[] = [];
    const fan = calling("fan", async (_, { tools }) => {
      for (let i = 0; i < 10; i++) answers.push((await tools.call("inner", {})).ok);
      return 1;
    });
    const inner = leaf(
      "inner",
      async (_, { files }: { files: { write(path: string, data: Uint8Array): Promise<void> } }) => {
        await files.write("a", new Uint8Array(75));
        return 1;
      },
      { effects: ["fs.write"], capabilities: [{ kind: "fs.write", paths: ["**"] }] },
    );
    const calls = { kind: "tool.call", tools: ["*"] } as const;
    const write = { kind: "fs.write", paths: ["**"] } as const;
    const grants = [calls, write].map((capability) => ({ tool: "*", capability }));
    const { kernel } = await openCalling([fan, inner], { brokers: [store], policy: { ...openPolicy, grants } });
    await kernel.call("fan", {}, { grants: [calls, { ...write, totalBytes: 150 }] });
    expect(bytes).toBe(150);
    expect(answers).toEqual([true, true, ...Array.from({ length: 8 }, () => false)]);
  });
});
