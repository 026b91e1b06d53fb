import { type Kernel, packageHash, type ToolPackage } from "@keyhole/kernel";
import {
  checkPolicy,
  type ComposedKernelOptions,
  composeKernel,
  formatOf,
  linearPatterns,
} from "@keyhole/kernel/compose";
import { inlineHost } from "@keyhole/kernel/inline";
import { explain } from "@keyhole/kernel/schema/explain";
import { sha256Hash } from "@keyhole/kernel/sha256";
import { describe, expect, it } from "vitest";
import { echo, openPolicy } from "../support/kernel.ts";
import { moduleHost, packed } from "../support/module-host.ts";

type Schema = Readonly<Record<string, unknown>>;

function packageOf(keywords: Schema): ToolPackage {
  const { manifest, code } = packed(echo);
  const message = { type: "string", ...keywords };
  const input = { type: "object", properties: { message }, required: ["message"], additionalProperties: false };
  const changed = { ...manifest, input };
  return { manifest: changed, code, hash: packageHash(changed, code, sha256Hash) ?? "" };
}

async function kernelWith(schemaParts: ComposedKernelOptions["schemaParts"] = {}): Promise<Kernel> {
  return composeKernel({
    host: moduleHost(echo),
    inline: inlineHost(),
    policy: openPolicy,
    hash: sha256Hash,
    checkPolicy,
    schemaParts,
  });
}

const parts = [
  ["format", { format: "date" }, { formatOf }, "2026-02-30", "2026-02-28"],
  ["pattern", { pattern: "^a+$" }, { linearPatterns }, "b", "aa"],
] as const;

describe.each(parts)("a kernel without the part for `%s`", (keyword, keywords, part, wrong, right) => {
  it("refuses a package whose schema has the keyword, and names the part", async () => {
    const kernel = await kernelWith();
    expect(kernel.register(packageOf(keywords))).toMatchObject({
      ok: false,
      error: {
        code: "INVALID_MANIFEST",
        path: `/input/properties/message/${keyword}`,
        hint: expect.stringContaining(Object.keys(part).join()),
      },
    });
    expect(kernel.list()).toEqual([]);
  });

  it("refuses the keyword wherever it stands in the schema", async () => {
    const kernel = await kernelWith();
    for (const hidden of [
      { anyOf: [true, keywords] },
      { not: keywords },
      { $defs: { d: keywords }, $ref: "#/properties/message/$defs/d" },
    ])
      expect(kernel.register(packageOf(hidden)), JSON.stringify(hidden)).toMatchObject({ ok: false });
  });

  it("checks the keyword with the part", async () => {
    const kernel = await kernelWith({ ...part, explain });
    expect(kernel.register(packageOf(keywords))).toMatchObject({ ok: true });
    expect(await kernel.call("echo", { message: wrong })).toMatchObject({
      ok: false,
      error: { code: "INVALID_INPUT" },
    });
    expect(await kernel.call("echo", { message: right })).toMatchObject({ ok: true });
  });
});

it("refuses an unknown format too without tests of formats: it cannot know the names", async () => {
  const kernel = await kernelWith();
  expect(kernel.register(packageOf({ format: "made-up" }))).toMatchObject({ ok: false });
});

it("matches the pattern of a trusted tool with the engine's matcher, and refuses its format", async () => {
  const kernel = await kernelWith();
  const trusted = (keywords: Schema): typeof echo => {
    const { definition, ...tool } = echo;
    const input = { type: "object", properties: { message: keywords } };
    return { ...tool, definition: { ...definition, input } };
  };
  expect(kernel.registerTrusted(trusted({ format: "date" }))).toMatchObject({ ok: false });
  expect(kernel.registerTrusted(trusted({ pattern: "^a+$" }))).toMatchObject({ ok: true });
  expect(await kernel.call("echo", { message: "b" })).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
  expect(await kernel.call("echo", { message: "aa" })).toMatchObject({ ok: true });
});
