import { Fd, wasi } from "@bjorn3/browser_wasi_shim";
import type { CapabilityReply, CapabilityRequest, FileEntry, ToolFiles } from "@keyhole/kernel";
import { type FileRoom, HeldBytes, OpenFile } from "./file.ts";
import { errno } from "./names.ts";

/** Asks the brokers. Throws instead of returning, while there is no answer. */
export type Ask = (request: CapabilityRequest) => CapabilityReply;

/** The state that the folders and files of one run share. */
export interface FileWorld {
  readonly ask: Ask;
  readonly room: FileRoom;
}

/** Of an entry in memory, without its name. */
const ENTRY_BYTES = 64;

/** Bits of `oflags`. */
const CREATE = 1;
const DIRECTORY = 2;
const EXCLUSIVE = 4;
const TRUNCATE = 8;
const APPEND = 1;

/**
 * A folder of the brokers' as WASI knows folders. There are no folders without files here, so that none is made or removed, and a file has no other name than its
 * own: what needs that is refused as not supported.
 */
export class Folder extends Fd {
  readonly #world: FileWorld;
  readonly #path: string;
  readonly #preopened: string | undefined;
  readonly #held: HeldBytes;
  #entries: readonly FileEntry[] | undefined;

  /**
   * @param held of an opened folder
   * @param preopened the name under which a program finds it from its start
   */
  constructor(world: FileWorld, path: string, held: HeldBytes | undefined, preopened?: string) {
    super();
    this.#held = held ?? new HeldBytes(world.room);
    this.#world = world;
    this.#path = path;
    this.#preopened = preopened;
  }

  override fd_prestat_get(): ReturnType<Fd["fd_prestat_get"]> {
    if (this.#preopened === undefined) return { ret: errno.badf, prestat: null };
    return { ret: errno.success, prestat: wasi.Prestat.dir(this.#preopened) };
  }

  override fd_fdstat_get(): ReturnType<Fd["fd_fdstat_get"]> {
    const fdstat = new wasi.Fdstat(wasi.FILETYPE_DIRECTORY, 0);
    fdstat.fs_rights_base = allRights;
    fdstat.fs_rights_inherited = allRights;
    return { ret: errno.success, fdstat };
  }

  override fd_filestat_get(): ReturnType<Fd["fd_filestat_get"]> {
    return { ret: errno.success, filestat: new wasi.Filestat(0n, wasi.FILETYPE_DIRECTORY, 0n) };
  }

  override fd_close(): number {
    this.#entries = undefined;
    if (this.#preopened === undefined) this.#held.close();
    else this.#held.resize(0, () => {});
    return errno.success;
  }

  override fd_readdir_single(cookie: bigint): ReturnType<Fd["fd_readdir_single"]> {
    const listed = this.#list();
    if (typeof listed === "number") return { ret: listed, dirent: null };
    const entry = listed[Number(cookie)];
    if (entry === undefined) return { ret: errno.success, dirent: null };
    return { ret: errno.success, dirent: new wasi.Dirent(cookie + 1n, 0n, entry.name, typeOf(entry)) };
  }

  /** Once per opened folder: who reads it in pieces reads one state of it. */
  #list(): readonly FileEntry[] | number {
    if (this.#entries !== undefined) return this.#entries;
    const reply = this.#world.ask({ kind: "fs.read", operation: "list", arguments: { path: this.#path } });
    if (!reply.ok) return errnoOf(reply);
    const { entries } = reply.value as unknown as Awaited<ReturnType<ToolFiles["list"]>>;
    const byteLength = entries.reduce((sum, { name }) => sum + ENTRY_BYTES + name.length * 2, 0);
    const fault = this.#held.resize(byteLength, () => (this.#entries = entries));
    return fault === errno.success ? entries : fault;
  }

  override path_filestat_get(_flags: number, name: string): ReturnType<Fd["path_filestat_get"]> {
    const path = this.#below(name);
    if (path === undefined) return { ret: errno.notcapable, filestat: null };
    const entry = this.#stat(path);
    if (typeof entry === "number") return { ret: entry, filestat: null };
    return { ret: errno.success, filestat: new wasi.Filestat(0n, typeOf(entry), BigInt(entry.byteLength)) };
  }

  #stat(path: string): FileEntry | number {
    if (path === "") return { name: "", kind: "directory", byteLength: 0 };
    const reply = this.#world.ask({ kind: "fs.read", operation: "stat", arguments: { path } });
    return reply.ok ? (reply.value as unknown as FileEntry) : errnoOf(reply);
  }

  override path_unlink_file(name: string): number {
    const path = this.#below(name);
    if (path === undefined || path === "") return errno.notcapable;
    const reply = this.#world.ask({ kind: "fs.write", operation: "remove", arguments: { path } });
    return reply.ok ? errno.success : errnoOf(reply);
  }

  override path_open(
    _lookup: number,
    name: string,
    how: number,
    rights: bigint,
    _inheriting: bigint,
    flags: number,
  ): ReturnType<Fd["path_open"]> {
    const path = this.#below(name);
    if (path === undefined) return failure(errno.notcapable);
    const isWritten = (rights & BigInt(wasi.RIGHTS_FD_WRITE)) !== 0n;
    // A file that the write replaces need not be readable.
    const isReplaced = isWritten && (how & TRUNCATE) !== 0 && (how & EXCLUSIVE) === 0;
    const found = isReplaced && (how & CREATE) !== 0 ? errno.noent : this.#stat(path);
    if (typeof found !== "number") return this.#openFound(path, found, how, isWritten, flags);
    if (found !== errno.noent || (how & CREATE) === 0) return failure(found);
    if (path === "" || (how & DIRECTORY) !== 0) return failure(errno.notsup);
    return this.#openFile(path, new Uint8Array(), { isWritten, appends: (flags & APPEND) !== 0 }, true);
  }

  #openFound(path: string, { kind }: FileEntry, how: number, isWritten: boolean, flags: number): Opened {
    if ((how & CREATE) !== 0 && (how & EXCLUSIVE) !== 0) return failure(errno.exist);
    if (kind === "directory") {
      if (isWritten && (how & DIRECTORY) === 0) return failure(errno.isdir);
      return this.#world.room.take((held) => new Folder(this.#world, path, held));
    }
    if ((how & DIRECTORY) !== 0) return failure(errno.notdir);
    const appends = (flags & APPEND) !== 0;
    if (isWritten && (how & TRUNCATE) !== 0) return this.#openFile(path, new Uint8Array(), { isWritten, appends });
    const reply = this.#world.ask({ kind: "fs.read", operation: "read", arguments: { path } });
    if (!reply.ok) return failure(errnoOf(reply));
    return this.#openFile(path, reply.body ?? new Uint8Array(), { isWritten, appends });
  }

  #openFile(path: string, content: Uint8Array, how: Parameters<typeof OpenFile.open>[3], isNew = false): Opened {
    const { ask, room } = this.#world;
    const store = (data: Uint8Array): number => {
      const reply = ask({ kind: "fs.write", operation: "write", arguments: { path }, body: data });
      return reply.ok ? errno.success : errnoOf(reply);
    };
    // Stored at once: programs drop the fault of a close, so one without the grant hears of it here.
    const fault = how.isWritten || isNew ? store(content) : errno.success;
    return fault === errno.success ? OpenFile.open(store, content, room, how) : failure(fault);
  }

  /** A path of the brokers', who refuse rather than repair; `undefined` for what leads up. */
  #below(name: string): string | undefined {
    const parts = name.split("/").filter((part) => part !== "" && part !== ".");
    if (parts.includes("..")) return undefined;
    return [this.#path, ...parts].filter((part) => part !== "").join("/");
  }
}

type Opened = ReturnType<Fd["path_open"]>;

const allRights = (1n << 30n) - 1n;

function failure(ret: number): Opened {
  return { ret, fd_obj: null };
}

function typeOf({ kind }: FileEntry): number {
  return kind === "directory" ? wasi.FILETYPE_DIRECTORY : wasi.FILETYPE_REGULAR_FILE;
}

/** A broker says in words what is wrong with a file that may be touched; for nearly all it is that there is none. */
function errnoOf({ error }: Extract<CapabilityReply, { ok: false }>): number {
  return errnoOfCode[error.code];
}

const errnoOfCode = {
  CAPABILITY_DENIED: errno.access,
  BOUNDS_EXCEEDED: errno.fbig,
  INVALID_REQUEST: errno.inval,
  NOT_FOUND: errno.noent,
  UNAVAILABLE: errno.io,
  CANCELLED: errno.io,
} as const satisfies Record<Extract<CapabilityReply, { ok: false }>["error"]["code"], number>;
