import { randomUUID } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { lstat, mkdir, open, opendir, realpath, rename, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import {
  attempt as attemptTo,
  done,
  draftEnd,
  StoreError,
  fileEntry,
  type FileStore,
  folderEntry,
  foldersOf,
  found,
  isDraft,
  listLimit,
  nameOf,
  type StoreEntry,
  type StoreFault,
  type StoreResult,
} from "../brokers/store.ts";

/**
 * Files below one folder of the file system. The store follows and lists no link, not even one that
 * stays inside. A name must have the spelling of the file system, so a file has no second name
 * where case is ignored. A write goes to a file beside the target, which then takes its name.
 *
 * On Linux every step starts from an opened folder whose place was checked: a process that swaps folders for links at the right moment leads
 * nothing elsewhere. On other systems it can, between a check and the step after it.
 *
 * @param root the first write makes it, where it is not there; may itself be reached over links
 */
export function nodeStore(root: string): FileStore {
  const place = async (path: string): Promise<string> => {
    const top = await realpath(root);
    return path === "" ? top : join(top, ...path.split("/"));
  };
  const parentOf = (path: string): Promise<string> => place(foldersOf(path).at(-1) ?? "");

  const folders = new MadeFolders(parentOf);

  return {
    read: (path, limitBytes) =>
      attempt(async () =>
        found(await inFolder(await parentOf(path), (parent) => readWhole(parent, nameOf(path), limitBytes))),
      ),
    write: (path, bytes) =>
      attempt(async () => {
        await mkdir(root, { recursive: true });
        try {
          await folders.make(path);
          await inFolder(await parentOf(path), (parent) => replace(parent, nameOf(path), bytes));
        } catch (error) {
          await folders.removeEmpty(path).catch(() => {});
          throw error;
        }
        return done;
      }),
    list: (path) => attempt(async () => found(await inFolder(await place(path), listFolder))),
    stat: (path) =>
      attempt(async () => {
        if (path === "") return inFolder(await place(path), async () => found(folderEntry("")));
        const stats = await inFolder(await parentOf(path), (parent) => plainStat(parent, nameOf(path)));
        return found(stats.isDirectory() ? folderEntry(nameOf(path)) : fileEntry(nameOf(path), stats.size));
      }),
    remove: (path) =>
      attempt(async () => {
        await inFolder(await parentOf(path), async (parent) => {
          if ((await plainStat(parent, nameOf(path))).isDirectory()) throw new StoreError("is-folder");
          await unlink(parent.at(nameOf(path)));
        });
        await folders.removeEmpty(path).catch(() => {});
        return done;
      }),
  };
}

/** Beyond, folders stay when they are empty: a tool must not fill the memory with them. */
const MOST_MADE = 10_000;

/** The folders that a store made. Any other belongs to the owner of the files, also an empty one. */
class MadeFolders {
  readonly #made = new Set<string>();
  readonly #parentOf: (path: string) => Promise<string>;

  constructor(parentOf: (path: string) => Promise<string>) {
    this.#parentOf = parentOf;
  }

  /** Makes those around a file that are missing. */
  async make(path: string): Promise<void> {
    for (const folder of foldersOf(path)) {
      await inFolder(await this.#parentOf(folder), async (parent) => {
        const name = nameOf(folder);
        const isNew = await mkdir(parent.at(name)).then(() => true, unless("EEXIST"));
        if (isNew === true && this.#made.size < MOST_MADE) this.#made.add(folder);
        if (!(await plainStat(parent, name)).isDirectory()) throw new StoreError("is-file");
      });
    }
  }

  /** Stops at the first that is not empty. */
  async removeEmpty(path: string): Promise<void> {
    for (const folder of foldersOf(path).toReversed()) {
      if (!this.#made.has(folder)) return;
      await inFolder(await this.#parentOf(folder), (parent) => rmdir(parent.at(nameOf(folder))));
      this.#made.delete(folder);
    }
  }
}

interface OpenFolder {
  /** Where it is, over no link. */
  readonly path: string;
  /** The path of a name in it, from the opened folder where the system can do that. */
  at(name: string): string;
}

/** Opens a folder, makes sure that it is where it should be, and closes it after use. */
async function inFolder<Value>(path: string, use: (folder: OpenFolder) => Promise<Value>): Promise<Value> {
  if (process.platform !== "linux") {
    if (!(await lstat(path)).isDirectory()) throw new StoreError("is-file");
    if ((await realpath(path)) !== path) throw new StoreError("not-plain");
    return use({ path, at: (name) => join(path, name) });
  }
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW).catch(
    async (error: unknown) => {
      // With both flags the system says of a link that it is no folder.
      throw codeOf(error) === "ENOTDIR" && (await lstat(path)).isSymbolicLink() ? new StoreError("not-plain") : error;
    },
  );
  try {
    const anchor = `/proc/self/fd/${handle.fd}`;
    if ((await realpath(anchor)) !== path) throw new StoreError("not-plain");
    return await use({ path, at: (name) => join(anchor, name) });
  } finally {
    await handle.close();
  }
}

/** The stat of a file or a folder whose stored name has this very spelling. */
async function plainStat(parent: OpenFolder, name: string): Promise<Stats> {
  const stats = await lstat(parent.at(name));
  if (!stats.isFile() && !stats.isDirectory()) throw new StoreError("not-plain");
  if ((await realpath(parent.at(name))) !== join(parent.path, name)) throw new StoreError("not-plain");
  return stats;
}

async function readWhole(parent: OpenFolder, name: string, limitBytes: number): Promise<Uint8Array> {
  if ((await plainStat(parent, name)).isDirectory()) throw new StoreError("is-folder");
  // Not blocking: a former file may be a pipe now, whose opening waits for a writer.
  const file = await open(parent.at(name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new StoreError("not-plain");
    if (stats.size > limitBytes) throw new StoreError("too-large");
    const bytes = new Uint8Array(stats.size);
    let offset = 0;
    while (offset < bytes.length) {
      const { bytesRead } = await file.read(bytes, offset, bytes.length - offset, offset);
      if (bytesRead === 0) break;
      offset += bytesRead;
    }
    return bytes.subarray(0, offset);
  } finally {
    await file.close();
  }
}

async function replace(parent: OpenFolder, name: string, bytes: Uint8Array): Promise<void> {
  const before = await plainStat(parent, name).catch(unless("ENOENT"));
  if (before?.isDirectory()) throw new StoreError("is-folder");
  const draft = parent.at(`${randomUUID()}${draftEnd}`);
  const file = await open(
    draft,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    before ? before.mode & 0o777 : 0o600,
  );
  try {
    await file.writeFile(bytes);
    await file.close();
    await rename(draft, parent.at(name));
  } catch (error) {
    await file.close().catch(() => {});
    await unlink(draft).catch(() => {});
    throw error;
  }
}

async function listFolder(folder: OpenFolder): Promise<readonly StoreEntry[]> {
  const entries: StoreEntry[] = [];
  for await (const { name } of await opendir(folder.at("."))) {
    if (isDraft(name)) continue;
    const stats = await lstat(folder.at(name)).catch(unless("ENOENT"));
    if (stats?.isFile()) entries.push(fileEntry(name, stats.size));
    else if (stats?.isDirectory()) entries.push(folderEntry(name));
    else if (stats) entries.push({ name, kind: "other", byteLength: 0 });
    if (entries.length > listLimit) throw new StoreError("too-many");
  }
  return entries;
}

const systemFaults: ReadonlyMap<string, StoreFault> = new Map([
  ["ENOENT", "not-found"],
  ["ENOTDIR", "is-file"],
  ["EISDIR", "is-folder"],
  ["ELOOP", "not-plain"],
  ["ENOSPC", "no-space"],
  ["EDQUOT", "no-space"],
  ["EFBIG", "no-space"],
]);

function attempt<Value>(operation: () => Promise<StoreResult<Value>>): Promise<StoreResult<Value>> {
  return attemptTo(operation, (error) => systemFaults.get(codeOf(error)));
}

/** Takes one failure of the system for an answer. */
function unless(code: string): (error: unknown) => undefined {
  return (error) => {
    if (codeOf(error) !== code) throw error;
  };
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}
