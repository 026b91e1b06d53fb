import { knownOptions } from "@keyhole/kernel/foreign";
import { checkPath, type FileEntry } from "@keyhole/kernel";
import {
  attempt,
  done,
  StoreError,
  fault,
  fileEntry,
  type FileStore,
  folderEntry,
  foldersOf,
  found,
  listLimit,
  nameOf,
  type StoreFault,
} from "./store.ts";

export interface OpfsStoreOptions {
  /** Folder of the origin private file system that is the root; made when it is missing. Default `keyhole`. */
  readonly folder?: string;
}

/**
 * Files in the origin private file system of the page. Works in pages and in dedicated workers. The browser bounds the space, and forgets it when the
 * person clears the site's data. Two tabs of one origin share it: a file is whole in each, the last writer wins.
 */
export function opfsStore(options: OpfsStoreOptions = {}): FileStore {
  const { folder = "keyhole" } = knownOptions(options, { folder: true }, "opfsStore");
  const tree = new Tree(folder);
  return {
    read: (path, limitBytes) =>
      attempt(async () => {
        const file = await tree.file(path);
        if (file.size > limitBytes) return fault("too-large");
        return found(new Uint8Array(await file.arrayBuffer()));
      }, faultOf),
    write: (path, bytes) =>
      attempt(async () => {
        if (await tree.isFolder(path)) return fault("is-folder");
        const parent = await tree.parent(path, true);
        try {
          await writeFile(parent, nameOf(path), bytes);
        } catch (error) {
          await tree.removeEmptyFolders(path).catch(() => {});
          throw error;
        }
        return done;
      }, faultOf),
    list: (path) =>
      attempt(async () => {
        const handle = await tree.folder(path);
        const entries: FileEntry[] = [];
        for await (const [name, child] of handle.entries()) {
          if (checkPath(name) !== undefined) continue;
          if (entries.length === listLimit) return fault("too-many");
          entries.push(isFileHandle(child) ? fileEntry(name, (await child.getFile()).size) : folderEntry(name));
        }
        return found(entries);
      }, faultOf),
    stat: (path) =>
      attempt(async () => {
        if (path === "" || (await tree.isFolder(path))) return found(folderEntry(nameOf(path)));
        return found(fileEntry(nameOf(path), (await tree.file(path)).size));
      }, faultOf),
    remove: (path) =>
      attempt(async () => {
        await tree.file(path);
        const parent = await tree.parent(path);
        await parent.removeEntry(nameOf(path));
        await tree.removeEmptyFolders(path).catch(() => {});
        return done;
      }, faultOf),
  };
}

/** The folders under one root. Paths are taken step by step: the platform takes single names only. */
class Tree {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  async folder(path: string, create = false): Promise<FileSystemDirectoryHandle> {
    const top = await navigator.storage.getDirectory();
    let handle = await top.getDirectoryHandle(this.#root, { create: true });
    for (const name of path === "" ? [] : path.split("/")) {
      handle = await handle.getDirectoryHandle(name, { create }).catch((error: unknown) => {
        throw isMismatch(error) ? new StoreError("is-file") : error;
      });
    }
    return handle;
  }

  parent(path: string, create = false): Promise<FileSystemDirectoryHandle> {
    return this.folder(foldersOf(path).at(-1) ?? "", create);
  }

  async file(path: string): Promise<File> {
    const parent = await this.parent(path);
    const handle = await parent.getFileHandle(nameOf(path)).catch((error: unknown) => {
      throw isMismatch(error) ? new StoreError("is-folder") : error;
    });
    return handle.getFile();
  }

  async isFolder(path: string): Promise<boolean> {
    try {
      await this.folder(path);
      return true;
    } catch {
      return false;
    }
  }

  async removeEmptyFolders(path: string): Promise<void> {
    for (const each of foldersOf(path).toReversed()) {
      const parent = await this.parent(each);
      // Without `recursive` the platform refuses to take away what is not empty.
      await parent.removeEntry(nameOf(each));
    }
  }
}

async function writeFile(parent: FileSystemDirectoryHandle, name: string, bytes: Uint8Array): Promise<void> {
  const isNew = await parent.getFileHandle(name).then(
    () => false,
    () => true,
  );
  const handle = await parent.getFileHandle(name, { create: true });
  try {
    await replace(handle, bytes);
  } catch (error) {
    // The platform made an empty file before there was anything to write.
    if (isNew) await parent.removeEntry(name).catch(() => {});
    throw error;
  }
}

/** Goes to a second file that takes the place of the first when it is closed. */
async function replace(handle: FileSystemFileHandle, bytes: Uint8Array): Promise<void> {
  const writable = await handle.createWritable();
  try {
    await writable.write(bytes as Uint8Array<ArrayBuffer>);
    await writable.close();
  } catch (error) {
    await writable.abort().catch(() => {});
    throw error;
  }
}

function isFileHandle(handle: FileSystemHandle): handle is FileSystemFileHandle {
  return handle.kind === "file";
}

/** The platform says by its exception what it met. */
function faultOf(error: unknown): StoreFault | undefined {
  return error instanceof DOMException ? platformFaults.get(error.name) : undefined;
}

const platformFaults: ReadonlyMap<string, StoreFault> = new Map([
  ["NotFoundError", "not-found"],
  ["QuotaExceededError", "no-space"],
]);

function isMismatch(error: unknown): boolean {
  return error instanceof DOMException && error.name === "TypeMismatchError";
}
