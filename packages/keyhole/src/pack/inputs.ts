import type { PackFiles } from "./files.ts";

/** The inputs of an artefact: a change of any of these makes another one. Absolute paths, sorted. */
export interface Inputs {
  readonly files: readonly string[];
  /** Files that were looked for and are not there. Each would change where an import leads. */
  readonly missing: readonly string[];
}

/** The files as one artefact sees them. Its maker reads all files here, so that no input is missing. */
export class RecordedFiles implements PackFiles {
  readonly #files: PackFiles;
  readonly #found = new Set<string>();
  readonly #missing = new Set<string>();

  constructor(files: PackFiles) {
    this.#files = files;
  }

  read(path: string): Uint8Array | undefined {
    // Before the reading, which can throw for a file that is too large.
    this.#found.add(path);
    const content = this.#files.read(path);
    if (content !== undefined) return content;
    this.#found.delete(path);
    this.#missing.add(path);
    return undefined;
  }

  realPath(path: string): string {
    return this.#files.realPath(path);
  }

  inputs(): Inputs {
    return { files: [...this.#found].sort(), missing: [...this.#missing].sort() };
  }
}
