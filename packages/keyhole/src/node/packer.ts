import { realpathSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { readBoundedFile } from "@keyhole/worker-host/node/policy-text";
import { compileEngine, type Engine } from "@keyhole/worker-host/wasm";
import type { Esbuild } from "../pack/bundle.ts";
import type { PackFiles } from "../pack/files.ts";
import { type Inputs, RecordedFiles } from "../pack/inputs.ts";
import { type PackedTool, Packer } from "../pack/packer.ts";
import { Resolver } from "../pack/resolve.ts";

/** The files of this machine. */
const nodeFiles: PackFiles = {
  read(path) {
    try {
      return readBoundedFile(path);
    } catch (error) {
      // The resolver passes an unreadable file.
      if (error instanceof Error && "code" in error) return undefined;
      throw error;
    }
  },
  realPath(path) {
    try {
      return forward(realpathSync(path));
    } catch {
      return path; // It is not there: reading it says so.
    }
  },
};

/** esbuild starts a process when it is first used: not before a tool is packed. */
const lazyEsbuild: Esbuild = {
  version: "0.28.2",
  build: async (options) => (await import("esbuild")).build(options),
};

/** In the repository this module is its source, and so are the packages that a tool imports. */
const conditions = import.meta.url.endsWith(".ts") ? ["keyhole-source"] : [];

let engine: Promise<Engine> | undefined;

async function loadEngine(): Promise<Engine> {
  return compileEngine(new Uint8Array(await readFile(fileURLToPath(import.meta.resolve("quickjs-wasi/quickjs.wasm")))));
}

/** The packer of this process. */
export const nodePacker: Packer = new Packer({
  esbuild: lazyEsbuild,
  files: nodeFiles,
  conditions,
  engine: () => (engine ??= loadEngine()),
});

/**
 * Packs a tool: bundles the file with all that it imports, reads its manifest in an isolate, and hashes both. The same sources give the same hash in every bundler, in
 * the command and in a page.
 *
 * @param file a TypeScript or JavaScript module whose default export is the result of `defineTool`; or a `.wasm` file with its manifest beside it
 * @throws Error with a reason for the author of the tool
 * @example
 * const { package: pkg } = await packTool("tools/read-issue.ts");
 * kernel.register(pkg);
 */
export function packTool(file: string): Promise<PackedTool> {
  return nodePacker.pack(forward(resolve(file)));
}

/**
 * The file that an import names, as the packer finds it inside of a tool.
 *
 * @param watch called with what decides it, also after a failure
 * @throws Error with a readable reason
 */
export function locate(source: string, importer: string, watch: (inputs: Inputs) => void): string {
  const files = new RecordedFiles(nodeFiles);
  try {
    return new Resolver(files, conditions).resolve(source, importer, "import").path;
  } finally {
    watch(files.inputs());
  }
}

export function forward(path: string): string {
  return path.replaceAll("\\", "/");
}
