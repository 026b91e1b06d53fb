import { randomBytes } from "node:crypto";
import { createWriteStream, rmSync } from "node:fs";
import { chmod, link, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { once } from "node:events";

/** Paths of unfinished files and folders. */
const drafts = new Set<string>();

/**
 * Removes a path when this process ends, also at a second Ctrl-C.
 *
 * @returns forgets it: it is complete, or absent
 */
export function removedAtExit(path: string): () => void {
  if (drafts.size === 0) process.once("exit", removeDrafts);
  drafts.add(path);
  return () => {
    drafts.delete(path);
    if (drafts.size === 0) process.off("exit", removeDrafts);
  };
}

function removeDrafts(): void {
  for (const path of drafts) rmSync(path, { recursive: true, force: true });
}

interface WriteOptions {
  /** Of a new file; one that is there keeps its own. */
  readonly mode?: number;
  /** Rejects with `EEXIST` where the file is there. */
  readonly isNew?: boolean;
}

/** Writes a file whole or not at all: readers, and the next run, never see a part of it. */
export async function writeWhole(
  path: string,
  content: string | Uint8Array,
  { mode, isNew = false }: WriteOptions = {},
): Promise<void> {
  const target = await targetOf(path);
  if (!target.canReplace) return writeFile(target.path, content);
  const draft = draftOf(target.path);
  const forget = removedAtExit(draft);
  try {
    await writeFile(draft, content, { mode: target.mode ?? mode, flag: newFile });
    if (isNew) await link(draft, target.path);
    else await moveOver(draft, target);
  } finally {
    await rm(draft, { force: true });
    forget();
  }
}

/** A file that is written piece by piece, and stands under its name when it has ended. */
export interface WholeFile {
  write(text: string): Promise<void>;
  end(): Promise<void>;
  /** Leaves what was there before. */
  drop(): Promise<void>;
}

export async function openWhole(path: string): Promise<WholeFile> {
  const target = await targetOf(path);
  const draft = target.canReplace ? draftOf(target.path) : target.path;
  const forget = target.canReplace ? removedAtExit(draft) : () => {};
  const stream = createWriteStream(draft, target.canReplace ? { flags: newFile, mode: target.mode } : {});
  let failure: Error | undefined;
  stream.on("error", (error) => (failure = error));
  const closed = once(stream, "close").catch(() => {});
  const remove = async (): Promise<void> => {
    if (target.canReplace) await rm(draft, { force: true });
    forget();
  };
  return {
    async write(text) {
      if (failure !== undefined) throw failure;
      if (!stream.write(text)) await Promise.race([once(stream, "drain"), closed]);
    },
    async end() {
      stream.end();
      await closed;
      if (failure !== undefined) throw failure;
      if (target.canReplace) await moveOver(draft, target);
      forget();
    },
    async drop() {
      stream.destroy();
      await closed;
      await remove();
    },
  };
}

interface Target {
  readonly path: string;
  /** Of the file that is there. */
  readonly mode: number | undefined;
  /** `false` for a pipe or a device, such as /dev/stdout: it stays, and takes the bytes. */
  readonly canReplace: boolean;
}

/** Through a link: the command replaces its target, and the link stays. */
async function targetOf(path: string): Promise<Target> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return { path, mode: undefined, canReplace: true };
  if (!found.isFile()) return { path, mode: undefined, canReplace: false };
  return { path: await realpath(path), mode: found.mode & 0o777, canReplace: true };
}

/** In a folder of several writers the command follows no foreign link and fills no foreign file. */
const newFile = "wx";
const draftOf = (path: string): string => `${path}.${randomBytes(8).toString("hex")}.tmp`;

async function moveOver(draft: string, { path, mode }: Target): Promise<void> {
  // The umask took some of it away.
  if (mode !== undefined) await chmod(draft, mode);
  await rename(draft, path);
}
