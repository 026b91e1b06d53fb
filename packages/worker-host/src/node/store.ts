import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, mkdir, open, opendir, realpath, rename, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { checkPath, type FileEntry } from "@keyhole/kernel";
import { attempt as attemptTo, done, Fault, fileEntry, type FileStore, folderEntry, foldersOf, found, listLimit, nameOf, type StoreFault, type StoreResult } from "../brokers/store.ts";

/**
 * Files below one folder of the file system. Nothing in it that is a link is followed or listed, also no link that stays inside; a name has to be
 * spelled as the file system spells it, so that a store on one that ignores case does not give a file a second name. Writes go to a file
 * beside the target that then takes its name. Links are looked for before and after a file is opened: another process that may write into
 * the folder and swaps folders for links at the right moment can still make an empty folder elsewhere, and reads and writes nothing there.
 *
 * @param root an existing folder; may itself be reached over links
 */
export function nodeStore(root: string): FileStore {
  let realRoot: Promise<string> | undefined;
  const place = async (path: string): Promise<string> => {
    realRoot ??= realpath(root);
    return path === "" ? realRoot : join(await realRoot, ...path.split("/"));
  };

  return {
    read: (path, limitBytes) => attempt(async () => found(await readWhole(await place(path), limitBytes))),
    write: (path, bytes) =>
      attempt(async () => {
        for (const folder of foldersOf(path)) await makeFolder(await place(folder));
        await replace(await place(foldersOf(path).at(-1) ?? ""), await place(path), bytes);
        return done;
      }),
    list: (path) => attempt(async () => found(await listFolder(await place(path)))),
    stat: (path) =>
      attempt(async () => {
        const at = await place(path);
        const stats = await plainStat(at);
        return found(stats.isDirectory() ? folderEntry(nameOf(path)) : fileEntry(nameOf(path), stats.size));
      }),
    remove: (path) =>
      attempt(async () => {
        const at = await place(path);
        if ((await plainStat(at)).isDirectory()) throw new Fault("is-folder");
        await unlink(at);
        for (const folder of foldersOf(path).toReversed()) {
          if (!(await rmdir(await place(folder)).then(() => true, () => false))) break;
        }
        return done;
      }),
  };
}

/** What is at a place, when the place is real: no link on the way, the same spelling, a file or a folder. */
async function plainStat(at: string): Promise<Stats> {
  const stats = await lstat(at);
  if (!stats.isFile() && !stats.isDirectory()) throw new Fault("not-plain");
  await requireReal(at);
  return stats;
}

async function requireReal(at: string): Promise<void> {
  if ((await realpath(at)) !== at) throw new Fault("not-plain");
}

async function readWhole(at: string, limitBytes: number): Promise<Uint8Array> {
  const stats = await plainStat(at);
  if (stats.isDirectory()) throw new Fault("is-folder");
  // Not blocking: what was a file a moment ago may be a pipe now, whose opening waits for a writer.
  const file = await open(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    await requireSame(file, at);
    const { size } = await file.stat();
    if (size > limitBytes) throw new Fault("too-large");
    const bytes = new Uint8Array(size);
    let offset = 0;
    while (offset < size) {
      const { bytesRead } = await file.read(bytes, offset, size - offset, offset);
      if (bytesRead === 0) break;
      offset += bytesRead;
    }
    return bytes.subarray(0, offset);
  } finally {
    await file.close();
  }
}

/** What was opened is what stands at the place now, and the place is real now: no swap in between led elsewhere. */
async function requireSame(file: FileHandle, at: string): Promise<void> {
  const [opened, there] = await Promise.all([file.stat(), lstat(at)]);
  if (!opened.isFile() || opened.ino !== there.ino || opened.dev !== there.dev) throw new Fault("not-plain");
  await requireReal(at);
}

async function makeFolder(at: string): Promise<void> {
  await mkdir(at).catch((error: unknown) => {
    if (codeOf(error) !== "EEXIST") throw error;
  });
  if (!(await plainStat(at)).isDirectory()) throw new Fault("is-file");
}

async function replace(folder: string, at: string, bytes: Uint8Array): Promise<void> {
  await requireReal(folder);
  const before = await plainStat(at).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  });
  if (before?.isDirectory()) throw new Fault("is-folder");
  // No path of a tool can name it: `%` is refused.
  const draft = join(folder, `%${randomUUID()}`);
  const file = await open(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, before ? before.mode & 0o777 : 0o600);
  try {
    await requireSame(file, draft);
    await file.writeFile(bytes);
    await file.close();
    await rename(draft, at);
  } catch (error) {
    await file.close().catch(() => {});
    await unlink(draft).catch(() => {});
    throw error;
  }
}

async function listFolder(at: string): Promise<readonly FileEntry[]> {
  if (!(await plainStat(at)).isDirectory()) throw new Fault("is-file");
  const entries: FileEntry[] = [];
  for await (const { name } of await opendir(at)) {
    if (checkPath(name) !== undefined) continue;
    const stats = await lstat(join(at, name)).catch(() => undefined);
    if (stats?.isFile()) entries.push(fileEntry(name, stats.size));
    if (stats?.isDirectory()) entries.push(folderEntry(name));
    if (entries.length > listLimit) throw new Fault("too-many");
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

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}
