/**
 * All that the packer sees of a machine: the files under one root. Paths are absolute, with forward slashes: `/app/tools/echo.ts`, `C:/app/echo.ts`. Both functions
 * throw where a link leads out of the root.
 */
export interface PackFiles {
  /** The bytes of a file; `undefined` where the root holds none. */
  read(path: string): Uint8Array | undefined;
  /** The path without links of a file or a folder that exists. Without it a bundle would have one linked package twice. */
  realPath(path: string): string;
}

/** A file map, for places without a file system. It has no links. */
export function mapFiles(files: ReadonlyMap<string, Uint8Array | string>): PackFiles {
  const encoder = new TextEncoder();
  return {
    read(path) {
      const content = files.get(path);
      return typeof content === "string" ? encoder.encode(content) : content;
    },
    realPath: (path) => path,
  };
}

/** The folder of a path; of a root, the empty text. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

export function isUnder(folder: string, path: string): boolean {
  return path.startsWith(`${folder}/`);
}

export function baseOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** @param relative `./a`, `../a` or `a` */
export function joinPath(folder: string, relative: string): string {
  const parts = folder.split("/");
  for (const part of relative.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "." && part !== "") parts.push(part);
  }
  return parts.join("/");
}
