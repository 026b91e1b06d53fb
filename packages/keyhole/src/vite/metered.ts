import { mkdir, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join, posix } from "node:path";
import { normalizePath } from "vite";
import { engineMetering, meter } from "@keyhole/worker-host/wasm";

/** A WebAssembly module, rewritten so that it counts its fuel. A run sets its bounds. */
export interface MeteredFile {
  /** A copy on disk, for a server of files. */
  readonly path: string;
  /** `quickjs-1f2e3d4c.wasm`: the name says what is in it. */
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Two builds of one process can meter the same file at once. */
let drafts = 0;

/**
 * Meters a file, and keeps the result in a folder.
 *
 * @throws Error with a readable reason
 */
export async function meterFile(file: string, module: Uint8Array, folder: string): Promise<MeteredFile> {
  const metered = meter(new Uint8Array(module), engineMetering);
  if (!metered.ok) throw new Error(metered.message);
  const { bytes } = metered;
  const digest = Buffer.from(await crypto.subtle.digest("SHA-256", bytes)).toString("hex");
  const name = `${basename(file, ".wasm")}-${digest.slice(0, 8)}.wasm`;
  const path = join(folder, name);
  await mkdir(folder, { recursive: true });
  // Whole at once: another process may be reading it.
  const draft = `${path}.${process.pid}.${++drafts}.tmp`;
  await writeFile(draft, bytes);
  await rename(draft, path);
  return { path: normalizePath(path), name, bytes };
}

export const placeholderPattern: RegExp = /^keyhole-metered:/;

/** A module that imports a metered one as workerd does: by its name, compiled before the Worker starts. */
export function importMetered(specifier: string): string {
  return `import module from ${JSON.stringify(specifier)};\nexport default module;`;
}

/** Stands for the file in the output that holds the module, until it is known which chunk imports it. */
export function placeholderOf(outputName: string): string {
  return `keyhole-metered:${outputName}`;
}

/** Names these files of the output as they are seen from a chunk. `undefined`: it imports none of them. */
export function resolvePlaceholders(
  code: string,
  chunkName: string,
  outputNames: Iterable<string>,
): string | undefined {
  let resolved = code;
  for (const name of outputNames) {
    const path = posix.relative(dirname(chunkName), name);
    const specifier = JSON.stringify(path.startsWith(".") ? path : `./${path}`);
    resolved = resolved.replaceAll(JSON.stringify(placeholderOf(name)), specifier);
  }
  return resolved === code ? undefined : resolved;
}
