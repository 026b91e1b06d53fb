import type { FileEntry } from "@keyhole/kernel";
import { knownOptions } from "@keyhole/kernel/foreign";
import {
  attempt as attemptTo,
  done,
  fault,
  fileEntry,
  type FileStore,
  folderEntry,
  foldersOf,
  found,
  listLimit,
  nameOf,
  type StoreResult,
} from "./store.ts";

/** The used members of an R2 bucket, so the package needs no types of the platform. */
export interface R2BucketLike {
  head(key: string): Promise<{ readonly size: number } | null>;
  get(key: string): Promise<{ readonly size: number; arrayBuffer(): Promise<ArrayBuffer> } | null>;
  put(key: string, value: Uint8Array): Promise<unknown>;
  delete(key: string): Promise<void>;
  list(options: {
    readonly prefix?: string;
    readonly delimiter?: string;
    readonly limit?: number;
    readonly cursor?: string;
  }): Promise<R2Page>;
}

export interface R2Page {
  readonly objects: readonly { readonly key: string; readonly size: number }[];
  readonly delimitedPrefixes: readonly string[];
  readonly truncated: boolean;
  readonly cursor?: string;
}

export interface R2StoreOptions {
  /** In front of every key, such as `tenant-1/`. Default: none. */
  readonly prefix?: string;
}

/**
 * Files as objects of an R2 bucket. A key has no folders, so a write first looks for files above
 * and below its path. Two writers at the same moment can both pass that check. Each then has its
 * own object, and nothing is lost.
 */
export function r2Store(bucket: R2BucketLike, options: R2StoreOptions = {}): FileStore {
  const { prefix = "" } = knownOptions(options, { prefix: true }, "r2Store");
  const keyOf = (path: string): string => prefix + path;

  const isFolder = async (path: string): Promise<boolean> => {
    if (path === "") return true;
    const { objects } = await bucket.list({ prefix: `${keyOf(path)}/`, limit: 1 });
    return objects.length > 0;
  };

  const hasFileOnTheWay = async (path: string): Promise<boolean> => {
    const heads = await Promise.all(foldersOf(path).map((folder) => bucket.head(keyOf(folder))));
    return heads.some((head) => head !== null);
  };

  const missing = async (path: string) =>
    fault((await isFolder(path)) ? "is-folder" : (await hasFileOnTheWay(path)) ? "is-file" : "not-found");

  return {
    read: (path, limitBytes) =>
      attempt(async () => {
        const object = await bucket.get(keyOf(path));
        if (!object) return missing(path);
        if (object.size > limitBytes) return fault("too-large");
        return found(new Uint8Array(await object.arrayBuffer()));
      }),
    write: (path, bytes) =>
      attempt(async () => {
        if (await isFolder(path)) return fault("is-folder");
        if (await hasFileOnTheWay(path)) return fault("is-file");
        await bucket.put(keyOf(path), bytes);
        return done;
      }),
    list: (path) =>
      attempt(() =>
        listFolder(bucket, keyOf(path === "" ? "" : `${path}/`), path === "" ? undefined : () => missingFolder(path)),
      ),
    stat: (path) =>
      attempt(async () => {
        const head = path === "" ? null : await bucket.head(keyOf(path));
        if (head) return found(fileEntry(nameOf(path), head.size));
        return (await isFolder(path)) ? found(folderEntry(nameOf(path))) : missing(path);
      }),
    remove: (path) =>
      attempt(async () => {
        if (!(await bucket.head(keyOf(path)))) return missing(path);
        await bucket.delete(keyOf(path));
        return done;
      }),
  };

  async function missingFolder(path: string): Promise<StoreResult<never>> {
    return fault((await bucket.head(keyOf(path))) || (await hasFileOnTheWay(path)) ? "is-file" : "not-found");
  }
}

async function listFolder(
  bucket: R2BucketLike,
  prefix: string,
  whenEmpty: (() => Promise<StoreResult<never>>) | undefined,
): Promise<StoreResult<readonly FileEntry[]>> {
  const entries: FileEntry[] = [];
  let cursor: string | undefined;
  do {
    const page = await bucket.list({ prefix, delimiter: "/", ...(cursor !== undefined && { cursor }) });
    for (const { key, size } of page.objects) entries.push(fileEntry(key.slice(prefix.length), size));
    for (const each of page.delimitedPrefixes) entries.push(folderEntry(each.slice(prefix.length, -1)));
    if (entries.length > listLimit) return fault("too-many");
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
  if (entries.length === 0 && whenEmpty) return whenEmpty();
  return found(entries);
}

/** R2 has no expected failures: every error is a fault of the service. */
function attempt<Value>(operation: () => Promise<StoreResult<Value>>): Promise<StoreResult<Value>> {
  return attemptTo(operation, () => undefined);
}
