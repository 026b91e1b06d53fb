import { blake3Hash, checkPackage, createKernel, packageHash, type Tool } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import greet from "keyhole:./fixtures/greet.ts";
import script from "keyhole:./fixtures/script.ts?iife";
import worker from "keyhole:./fixtures/worker.ts?esm";

describe("a tool", () => {
  it("gives a package that the kernel takes, with the manifest's defaults filled in", async () => {
    expect(checkPackage(greet)).toMatchObject({ ok: true });
    expect(greet.hash).toBe(packageHash(greet.manifest, greet.code, blake3Hash));
    expect(greet.manifest).toMatchObject({
      name: "greet",
      source: "module",
      determinism: "pure",
      tier: 0,
      effects: [],
      capabilities: [],
      bounds: {},
    });
    const kernel = await createKernel();
    expect(kernel.register(greet)).toMatchObject({ ok: true, value: { id: "greet@1.2.3" } });
  });

  it("gives code that stands alone and works", async () => {
    expect(greet.code).not.toMatch(/\bimport\b|\brequire\b|\/\*|\/\//);
    const module = (await import(
      /* @vite-ignore */ `data:text/javascript,${encodeURIComponent(String(greet.code))}`
    )) as {
      default: Tool<{ name: string }, string>;
    };
    expect(await module.default.code.execute({ name: "Ada" }, {} as never)).toBe("Hello, Ada!");
    expect(module.default.definition).toMatchObject({ name: "greet" });
  });
});

it("?iife gives a classic script", () => {
  const said: string[] = [];
  new Function("say", script)((text: string) => said.push(text));
  expect(said).toEqual(["Hello"]);
});

it("?esm gives a module in which the neighbours of a dynamic Worker stay imports", () => {
  expect(worker).toMatch(/^import\*as \w+ from"cloudflare:workers";import \w+ from"\.\/tool\.js";/);
  expect(worker).toContain(`"Hello"`);
});
