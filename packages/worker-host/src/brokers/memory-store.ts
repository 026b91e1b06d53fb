import { knownOptions } from "@keyhole/kernel/foreign";
import { done, fault, fileEntry, type FileStore, folderEntry, foldersOf, found, listLimit, nameOf } from "./store.ts";

export interface MemoryStoreOptions {
  /** Bytes of all files together. Default 64 MiB. */
  readonly totalBytes?: number;
  /** Default 10,000. */
  readonly fileCount?: number;
}

/** Files that live as long as the store: for tests, and for hosts without storage. */
export function memoryStore(options: MemoryStoreOptions = {}): FileStore {
  const { totalBytes = 64 << 20, fileCount = 10_000 } = knownOptions(
    options,
    { totalBytes: 0, fileCount: 0 },
    "memoryStore",
  );
  const files = new Map<string, Uint8Array>();
  let usedBytes = 0;

  const isFolder = (path: string): boolean => {
    if (path === "") return true;
    for (const file of files.keys()) if (file.startsWith(`${path}/`)) return true;
    return false;
  };
  const hasFileOnTheWay = (path: string): boolean => foldersOf(path).some((folder) => files.has(folder));
  const missing = (path: string) =>
    fault(isFolder(path) ? "is-folder" : hasFileOnTheWay(path) ? "is-file" : "not-found");

  return {
    async read(path, limitBytes) {
      const bytes = files.get(path);
      if (!bytes) return missing(path);
      return bytes.byteLength > limitBytes ? fault("too-large") : found(bytes.slice());
    },
    async write(path, bytes) {
      if (isFolder(path)) return fault("is-folder");
      if (hasFileOnTheWay(path)) return fault("is-file");
      const before = files.get(path);
      const after = usedBytes - (before?.byteLength ?? 0) + bytes.byteLength;
      if (after > totalBytes || (!before && files.size >= fileCount)) return fault("no-space");
      files.set(path, bytes.slice());
      usedBytes = after;
      return done;
    },
    async list(path) {
      if (files.has(path) || hasFileOnTheWay(path)) return fault("is-file");
      if (!isFolder(path)) return fault("not-found");
      const prefix = path === "" ? "" : `${path}/`;
      const entries = new Map<string, ReturnType<typeof fileEntry>>();
      for (const [file, bytes] of files) {
        if (!file.startsWith(prefix)) continue;
        const [name = "", ...below] = file.slice(prefix.length).split("/");
        entries.set(name, below.length > 0 ? folderEntry(name) : fileEntry(name, bytes.byteLength));
      }
      return entries.size > listLimit ? fault("too-many") : found([...entries.values()]);
    },
    async stat(path) {
      const bytes = files.get(path);
      if (bytes) return found(fileEntry(nameOf(path), bytes.byteLength));
      return isFolder(path) ? found(folderEntry(nameOf(path))) : missing(path);
    },
    async remove(path) {
      const bytes = files.get(path);
      if (!bytes) return missing(path);
      files.delete(path);
      usedBytes -= bytes.byteLength;
      return done;
    },
  };
}
