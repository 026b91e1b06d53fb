import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { ToolPackage } from "@keyhole/kernel";
import { bundle } from "./bundle.ts";
import { type ReaderData, type Reading, readerUrl } from "./reader.ts";

/**
 * Loading a tool defines it and nothing more; one that is not done by then waits for something that never comes. A build loads all its tools at once, and
 * a machine that has ten times as much to do as it has cores was seen to need more than 10 s for that.
 */
const loadTimeoutMs = 30_000;

/**
 * The reader with the kernel in it, as text. It is bundled, as tools are, so that both resolve the kernel in the same way: to its
 * sources where a program runs from sources, else to the published files.
 */
async function bundleReader(): Promise<URL> {
  const { code } = await bundle(fileURLToPath(readerUrl), "node");
  return new URL(`data:text/javascript;base64,${Buffer.from(code).toString("base64")}`);
}

let reader: Promise<URL> | undefined;

export type ReadResult =
  | { readonly ok: true; readonly package: ToolPackage }
  | { readonly ok: false; readonly reason: string };

/**
 * Makes a package of a tool's bundled code. The code runs in a thread of its own, so that a tool that throws, loops or changes globals
 * while it loads harms no build. That thread is no security boundary: a build trusts what it builds.
 */
export async function readTool(code: string): Promise<ReadResult> {
  reader ??= bundleReader();
  const reading = await runReader(await reader, code);
  if (!reading.ok) return reading;
  return { ok: true, package: { manifest: reading.manifest, code, hash: reading.hash } };
}

async function runReader(url: URL, code: string): Promise<Reading> {
  const worker = new Worker(url, { workerData: { keyholeTool: code } satisfies ReaderData, env: {} });
  const { promise, resolve } = Promise.withResolvers<Reading>();
  const timer = setTimeout(
    () => resolve({ ok: false, reason: `it is still loading after ${loadTimeoutMs / 1000} s` }),
    loadTimeoutMs,
  );
  worker.once("message", (reading: Reading) => resolve(reading));
  worker.once("error", (error) => resolve({ ok: false, reason: `it throws when it is loaded: ${String(error)}` }));
  worker.once("exit", () => resolve({ ok: false, reason: "it ends the process that loads it" }));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
