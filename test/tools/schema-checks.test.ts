import { defineTool } from "@keyhole/kernel";
import { nodeHost } from "@keyhole/worker-host/node";
import packedValibot from "keyhole:./checked/valibot.ts";
import packedZod from "keyhole:./checked/zod.ts";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { openKernel } from "../support/kernel.ts";

const common = { version: "1.0.0", description: "Takes it.", output: { kind: "json" } } as const;

describe("a trusted tool whose schema checks more than JSON Schema can say", () => {
  const path = z.object({ path: z.string().refine((text) => !text.includes(".."), "The path leaves the folder.") });
  const range = z.object({ from: z.number(), to: z.number() }).refine(async ({ from, to }) => from < to);
  const pair = z.object({ at: z.tuple([z.number(), z.number()]) });
  it.each([
    ["a refinement", path, { path: "a.txt" }, { path: "../a.txt" }],
    ["a refinement of two members that answers later", range, { from: 1, to: 2 }, { from: 2, to: 1 }],
    ["the length of a tuple", pair, { at: [1, 2] }, { at: [1] }],
  ])("runs %s before the tool", async (_, input, right, wrong) => {
    const { kernel } = await openKernel();
    const ran: unknown[] = [];
    const execute = (given: unknown): null => (ran.push(given), null);
    const check = (given: unknown) => (JSON.stringify(given).includes("own") ? "The own check." : undefined);
    expect(kernel.registerTrusted(defineTool({ ...common, name: "subject", input, check, execute }))).toMatchObject({
      ok: true,
    });
    expect(await kernel.call("subject", wrong)).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
    expect(await kernel.call("subject", right)).toMatchObject({ ok: true });
    expect(ran).toEqual([right]);
  });

  it("runs the tool's own check behind it", async () => {
    const { kernel } = await openKernel();
    const check = (): string => "The own check.";
    kernel.registerTrusted(defineTool({ ...common, name: "subject", input: path, check, execute: () => null }));
    for (const [given, message] of [
      ["..", "leaves the folder"],
      ["a", "own check"],
    ] as const)
      expect(await kernel.call("subject", { path: given })).toMatchObject({
        error: { code: "INVALID_INPUT", message: expect.stringContaining(message) as string },
      });
  });
});

describe("a package whose schema checks more than JSON Schema can say", () => {
  it.each([packedZod, packedValibot])("runs $manifest.name's check in the isolate, before the tool", async (pkg) => {
    const { kernel } = await openKernel({ host: nodeHost() });
    expect(kernel.register(pkg)).toMatchObject({ ok: true });
    const { name } = pkg.manifest;
    expect(await kernel.call(name, { path: "../a.txt" })).toMatchObject({
      error: { code: "INVALID_INPUT", message: expect.stringContaining("folder") as string },
    });
    expect(await kernel.call(name, { path: "a.txt" })).toMatchObject({ ok: true, data: { path: "a.txt" } });
    await kernel.close();
  });
});
