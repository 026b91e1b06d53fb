import { knownOptions } from "@keyhole/kernel/foreign";
import type { FileEntry } from "@keyhole/kernel";
import {
  attempt,
  done,
  draftEnd,
  StoreError,
  fault,
  fileEntry,
  type FileStore,
  folderEntry,
  foldersOf,
  found,
  isDraft,
  listLimit,
  nameOf,
  type StoreFault,
  type StoreResult,
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
  const asking = <Value>(ask: () => Promise<StoreResult<Value>>) => attempt(() => tree.steady(ask), faultOf);
  const changing = (change: () => Promise<StoreResult<undefined>>) => attempt(() => tree.alone(change), faultOf);
  return {
    read: (path, limitBytes) =>
      asking(async () => {
        const file = await tree.file(path);
        if (file.size > limitBytes) return fault("too-large");
        return found(new Uint8Array(await file.arrayBuffer()));
      }),
    write: (path, bytes) =>
      changing(async () => {
        if (await tree.isFolder(path)) return fault("is-folder");
        const existing = await tree.existing(path);
        await (existing ? tree.replace(existing, bytes) : tree.add(path, bytes));
        return done;
      }),
    list: (path) =>
      asking(async () => {
        const handle = await tree.folder(path);
        const entries: FileEntry[] = [];
        for await (const [name, child] of handle.entries()) {
          if (isDraft(name)) continue;
          if (entries.length === listLimit) return fault("too-many");
          entries.push(isFileHandle(child) ? fileEntry(name, (await child.getFile()).size) : folderEntry(name));
        }
        return found(entries);
      }),
    stat: (path) =>
      asking(async () => {
        if (path === "" || (await tree.isFolder(path))) return found(folderEntry(nameOf(path)));
        return found(fileEntry(nameOf(path), (await tree.file(path)).size));
      }),
    remove: (path) =>
      changing(async () => {
        await tree.remove(path);
        await tree.removeEmptyFolders(path).catch(() => {});
        return done;
      }),
  };
}

const draftFolder = `drafts${draftEnd}`;

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

  /** One change at a time, also of other tabs: what drafts there are then belong to no one. */
  alone<Value>(change: () => Promise<Value>): Promise<Value> {
    return navigator.locks.request(`keyhole-files-${this.#root}`, change);
  }

  /** While no file takes its place: in Chromium the name is there for no one in that moment. */
  steady<Value>(ask: () => Promise<Value>): Promise<Value> {
    return navigator.locks.request(this.#places, { mode: "shared" }, ask);
  }

  /** The file that every reader sees before or after. */
  #settle(step: () => Promise<void>): Promise<void> {
    return navigator.locks.request(this.#places, step);
  }

  get #places(): string {
    return `keyhole-places-${this.#root}`;
  }

  /** Goes to a second file that takes the place of the first when it is closed. */
  async replace(file: FileSystemFileHandle, bytes: Uint8Array): Promise<void> {
    const writable = await file.createWritable();
    try {
      await writable.write(bytes as Uint8Array<ArrayBuffer>);
      await this.#settle(() => writable.close());
    } catch (error) {
      await writable.abort().catch(() => {});
      throw error;
    }
  }

  async remove(path: string): Promise<void> {
    await this.file(path);
    const parent = await this.parent(path);
    await removeSwapFile(parent, nameOf(path));
    await this.#settle(() => parent.removeEntry(nameOf(path)));
  }

  /** The file is made elsewhere, because the platform makes an empty one before there is anything to write. */
  async add(path: string, bytes: Uint8Array): Promise<void> {
    await this.#removeDrafts();
    const drafts = await (await this.folder("")).getDirectoryHandle(draftFolder, { create: true });
    const draft = await drafts.getFileHandle("draft", { create: true });
    try {
      await this.replace(draft, bytes);
      const parent = await this.parent(path, true);
      await this.#settle(() => (draft as FileSystemFileHandle & Movable).move(parent, nameOf(path)));
    } catch (error) {
      await this.removeEmptyFolders(path).catch(() => {});
      throw error;
    } finally {
      await this.#removeDrafts().catch(() => {});
    }
  }

  /** Also what a page left that ended in the middle of a write. */
  async #removeDrafts(): Promise<void> {
    const top = await this.folder("");
    await top.removeEntry(draftFolder, { recursive: true }).catch(unlessMissing);
  }

  /** The file to replace, without what such a page left beside it. */
  async existing(path: string): Promise<FileSystemFileHandle | undefined> {
    try {
      const parent = await this.parent(path);
      const file = await parent.getFileHandle(nameOf(path));
      await removeSwapFile(parent, nameOf(path));
      return file;
    } catch (error) {
      return unlessMissing(error);
    }
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
      // Without `recursive` the platform refuses to take away a folder that is not empty, but no file.
      await parent.getDirectoryHandle(nameOf(each));
      await parent.removeEntry(nameOf(each));
    }
  }
}

/** In every browser that can write here; the types of the platform lack it. */
interface Movable {
  move(parent: FileSystemDirectoryHandle, name: string): Promise<void>;
}

/** Chromium has the new content in it, in the same folder. */
function removeSwapFile(parent: FileSystemDirectoryHandle, name: string): Promise<void> {
  return parent.removeEntry(`${name}${draftEnd}`).catch(unlessMissing);
}

function unlessMissing(error: unknown): undefined {
  if (faultOf(error) !== "not-found") throw error;
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
