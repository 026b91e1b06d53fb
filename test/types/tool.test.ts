import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import {
  blake3Hash,
  type CallResult,
  checkPackage,
  defineTool,
  type ErrorCode,
  type Kernel,
  manifestOf,
  packageHash,
  type PackageOf,
  type Tool,
} from "@keyhole/kernel";
import * as v from "valibot";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { openKernel } from "../support/kernel.ts";

const plain = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer" } },
  required: ["city"],
  additionalProperties: false,
} as const;
const shape = { name: "weather", version: "1.0.0", description: "Says the weather." } as const;

const fromPlain = defineTool({
  ...shape,
  input: plain,
  output: {
    kind: "json",
    schema: { type: "object", properties: { celsius: { type: "number" } }, required: ["celsius"] },
  },
  execute: ({ city, days }) => ({ celsius: city.length + (days ?? 0) }),
});
const fromValibot = defineTool({
  ...shape,
  input: toStandardJsonSchema(v.object({ city: v.string(), days: v.optional(v.number()) })),
  output: { kind: "text" },
  execute: ({ city, days }) => city.repeat(days ?? 1),
});
const fromZod = defineTool({
  ...shape,
  input: z.object({ city: z.string(), days: z.number().optional() }),
  output: { kind: "binary" },
  execute: ({ city }) => new TextEncoder().encode(city),
});
const fromArk = defineTool({
  ...shape,
  input: type({ city: "string", "days?": "number" }),
  output: { kind: "json", schema: z.object({ celsius: z.number() }) },
  execute: ({ city }) => ({ celsius: city.length }),
});

type Expected = { city: string; days?: number | undefined };

describe("types follow from schemas", () => {
  it("for execute, whatever the schema is written in", () => {
    expectTypeOf(fromPlain.code.execute).parameter(0).toExtend<Expected>();
    expectTypeOf(fromValibot.code.execute).parameter(0).toExtend<Expected>();
    expectTypeOf(fromZod.code.execute).parameter(0).toExtend<Expected>();
    expectTypeOf(fromArk.code.execute).parameter(0).toExtend<Expected>();
    expectTypeOf<{ city: string }>().toExtend<Parameters<typeof fromPlain.code.execute>[0]>();
  });

  it("for outputs", () => {
    expectTypeOf(fromValibot).toExtend<Tool<never, string>>();
    expectTypeOf(fromZod).toExtend<Tool<never, Uint8Array>>();
    expectTypeOf(fromArk).toExtend<Tool<never, { celsius: number }>>();
    const wrong = () =>
      // @ts-expect-error: the contract says text
      defineTool({ ...shape, input: plain, output: { kind: "text" }, execute: () => 1 });
    const unknownInput = () =>
      // @ts-expect-error: there is no such input
      defineTool({ ...shape, input: plain, output: { kind: "text" }, execute: ({ town }) => town });
    const given = () => new Uint8Array();
    expectTypeOf(
      defineTool({ ...shape, input: plain, output: { kind: "binary", transfer: true }, execute: given }),
    ).toExtend<Tool<never, Uint8Array>>();
    const notBytes = () =>
      // @ts-expect-error: only bytes are handed over
      defineTool({ ...shape, input: plain, output: { kind: "text", transfer: true }, execute: () => "" });
    expect([wrong, unknownInput, notBytes]).toHaveLength(3);
  });

  it("for callers, who may leave out what has a default", () => {
    const counted = defineTool({
      ...shape,
      input: { type: "object", properties: { times: { type: "integer", default: 1 } } },
      output: { kind: "text" },
      execute: ({ times }) => "x".repeat(times),
    });
    const call = (kernel: Kernel, counter: PackageOf<typeof counted>) => kernel.call(counter, {});
    expect(call).toBeTypeOf("function");
  });

  it("for a call by package, and by tool", () => {
    const call = async (kernel: Kernel, weather: PackageOf<typeof fromPlain>) => {
      const result = await kernel.call(weather, { city: "Oslo" });
      if (result.ok) expectTypeOf(result.data).toExtend<{ celsius: number }>();
      else expectTypeOf(result.error.code).toEqualTypeOf<ErrorCode>();
      expectTypeOf(await kernel.call("weather", { anything: 1 })).toEqualTypeOf<CallResult>();
      // @ts-expect-error: the city is missing
      await kernel.call(weather, { days: 1 });
    };
    expect(call).toBeTypeOf("function");
  });
});

describe("schemas of other libraries", () => {
  it("that cannot say themselves as JSON Schema are refused with the way out", async () => {
    const { kernel } = await openKernel();
    const input = v.object({ city: v.string() }) as unknown as typeof plain;
    const tool = defineTool({ ...shape, input, output: { kind: "text" }, execute: () => "" });
    expect(kernel.registerTrusted(tool)).toMatchObject({
      ok: false,
      error: { code: "INVALID_MANIFEST", message: expect.stringContaining("toStandardJsonSchema") },
    });
  });

  it("with look-ahead in their patterns are for trusted tools only", async () => {
    const input = z.object({ to: z.string().regex(/^(?!\.)[a-z.]+@[a-z.]+$/) });
    const mail = defineTool({ ...shape, input, output: { kind: "text" }, execute: ({ to }) => to });
    const { kernel } = await openKernel();
    expect(kernel.registerTrusted(mail)).toMatchObject({ ok: true });
    expect(await kernel.call("weather", { to: "ada@example.com" })).toMatchObject({
      ok: true,
      data: "ada@example.com",
    });
    expect(await kernel.call("weather", { to: "ada" })).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
    const manifest = manifestOf(mail, "module");
    const packed = { manifest, code: "export {}", hash: packageHash(manifest, "export {}", blake3Hash) ?? "" };
    expect(checkPackage(packed)).toMatchObject({
      ok: false,
      error: { code: "INVALID_MANIFEST", path: "/input/properties/to/pattern" },
    });
  });

  it.each([
    ["plain JSON Schema", fromPlain],
    ["valibot", fromValibot],
    ["zod", fromZod],
    ["arktype", fromArk],
  ])("%s: the manifest holds plain JSON Schema, and the kernel checks with it", async (_, tool) => {
    const { input } = manifestOf(tool, "inline");
    expect(input).toMatchObject({ type: "object", properties: { city: { type: "string" } }, required: ["city"] });
    expect(input).not.toHaveProperty("$schema");
    const { kernel } = await openKernel();
    expect(kernel.registerTrusted(tool as Tool)).toMatchObject({ ok: true });
    expect(await kernel.call("weather", { city: "Oslo" })).toMatchObject({ ok: true });
    expect(await kernel.call("weather", { city: 1 })).toMatchObject({
      ok: false,
      error: { code: "INVALID_INPUT", details: [{ path: "/city" }] },
    });
  });
});
