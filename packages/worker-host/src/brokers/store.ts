import type { FileEntry } from "@keyhole/kernel";

/** Why a store did not do what it was asked: an expected state of the world, no bug. */
export type StoreFault =
  | "not-found"
  /** A folder where a file was asked for. */
  | "is-folder"
  /** A file where a folder was asked for, also on the way to a path. */
  | "is-file"
  | "too-large"
  | "too-many"
  | "no-space"
  /** Not what the path says: a link, another spelling of the name, a device. */
  | "not-plain"
  /** The component behind the store failed, or is not there. */
  | "broken";

export type StoreResult<Value, Reason extends StoreFault = StoreFault> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly fault: Reason };

/**
 * Where files are. Paths have passed `checkPath`; `""` is the root, which always exists. As in git, a folder exists while something is in it:
 * `write` makes the folders on the way, `remove` takes away those that it leaves empty. Never rejects for what the world did. The broker sends one
 * change at a time. `test/contract/broker.ts` says what every store must do.
 */
export interface FileStore {
  /** Whole or not at all; a file of more than `limitBytes` is `too-large` and not read. */
  read(path: string, limitBytes: number): Promise<StoreResult<Uint8Array>>;
  /** Replaces the file, whole or not at all: no reader ever sees a part. */
  write(path: string, bytes: Uint8Array): Promise<StoreResult<undefined>>;
  /** All that is directly in a folder, in any order. The broker leaves out what no tool can use. */
  list(path: string): Promise<StoreResult<readonly StoreEntry[]>>;
  stat(path: string): Promise<StoreResult<FileEntry>>;
  /** Files only. */
  remove(path: string): Promise<StoreResult<undefined>>;
}

/** `other`: a link or a device. */
export type StoreEntry = Omit<FileEntry, "kind"> & { readonly kind: FileEntry["kind"] | "other" };

/** Of names of files that are not whole yet, also those of Chromium. No path of a tool can have one. */
export const draftEnd = ".crswap";

export const isDraft = (name: string): boolean => name.endsWith(draftEnd);

/** Entries of one folder that a store lists; more are `too-many`. */
export const listLimit = 10_000;

export function found<Value>(value: Value): { readonly ok: true; readonly value: Value } {
  return { ok: true, value };
}

export function fault<Reason extends StoreFault>(reason: Reason): { readonly ok: false; readonly fault: Reason } {
  return { ok: false, fault: reason };
}

export const done: { readonly ok: true; readonly value: undefined } = found(undefined);

/** The last segment; of the root, nothing. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The folders on the way to a path, outermost first, without the root. */
export function foldersOf(path: string): readonly string[] {
  const segments = path.split("/").slice(0, -1);
  return segments.map((_, at) => segments.slice(0, at + 1).join("/"));
}

export function fileEntry(name: string, byteLength: number): FileEntry {
  return { name, kind: "file", byteLength };
}

export function folderEntry(name: string): FileEntry {
  return { name, kind: "directory", byteLength: 0 };
}

/** The quickest way out of nested steps, inside one store only: {@link attempt} turns it into a result. */
export class StoreError extends Error {
  readonly fault: StoreFault;

  constructor(reason: StoreFault) {
    super(reason);
    this.fault = reason;
  }
}

/** Runs one operation of a store. An error that `faultOf` does not know is `broken`. */
export async function attempt<Value>(
  operation: () => Promise<StoreResult<Value>>,
  faultOf: (error: unknown) => StoreFault | undefined,
): Promise<StoreResult<Value>> {
  try {
    return await operation();
  } catch (error) {
    return fault(error instanceof StoreError ? error.fault : (faultOf(error) ?? "broken"));
  }
}
