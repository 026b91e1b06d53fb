import { gzipSync } from "node:zlib";
import { readFileSync } from "node:fs";
import { build } from "esbuild";
import { expect, it } from "vitest";
import { root } from "../support/sources.ts";

const { exports } = JSON.parse(readFileSync(`${root}packages/agents/package.json`, "utf8")) as { exports: object };
const adapters = Object.keys(exports).filter((name) => !["./package.json", "./agent-run"].includes(name));

/** Minified and gzipped, without the kernel, whose parts all adapters share. */
async function bytesOf(subpath: string): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: `export * from "@keyhole/agents/${subpath.slice(2)}";`, resolveDir: `${root}test` },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2024",
    conditions: ["keyhole-source"],
    external: ["@keyhole/kernel"],
    write: false,
  });
  return gzipSync(outputFiles[0]!.contents, { level: 9 }).length;
}

it.each(adapters)("%s adds at most 3 KiB to a kernel", async (subpath) => {
  expect(await bytesOf(subpath)).toBeLessThanOrEqual(3_072);
});

it("the loop of an agent adds at most 2.6 KiB to the adapter that it needs", async () => {
  expect((await bytesOf("./agent-run")) - (await bytesOf("./ai-sdk"))).toBeLessThanOrEqual(2_662);
});
