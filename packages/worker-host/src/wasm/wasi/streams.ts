import { Fd, wasi } from "@bjorn3/browser_wasi_shim";
import { errno } from "./names.ts";

/** A pipe, not a terminal: a C library buffers what it writes to one, and writes each line to the other. */
abstract class Pipe extends Fd {
  readonly #rights: number;

  constructor(rights: number) {
    super();
    this.#rights = rights;
  }

  override fd_fdstat_get(): ReturnType<Fd["fd_fdstat_get"]> {
    const fdstat = new wasi.Fdstat(wasi.FILETYPE_UNKNOWN, 0);
    fdstat.fs_rights_base = BigInt(this.#rights);
    return { ret: errno.success, fdstat };
  }

  override fd_filestat_get(): ReturnType<Fd["fd_filestat_get"]> {
    return { ret: errno.success, filestat: new wasi.Filestat(0n, wasi.FILETYPE_UNKNOWN, 0n) };
  }

  override fd_seek(): ReturnType<Fd["fd_seek"]> {
    return { ret: errno.spipe, offset: 0n };
  }
}

/** The standard input of a program, read from the front. */
export class Input extends Pipe {
  #rest: Uint8Array;

  constructor(bytes: Uint8Array) {
    super(wasi.RIGHTS_FD_READ);
    this.#rest = bytes;
  }

  override fd_read(size: number): ReturnType<Fd["fd_read"]> {
    const data = this.#rest.subarray(0, size);
    this.#rest = this.#rest.subarray(data.length);
    return { ret: errno.success, data };
  }
}

/** Hands on what a program writes to one of its outputs. */
export class Output extends Pipe {
  readonly #take: (bytes: Uint8Array) => void;

  /** @param take gets bytes of its own */
  constructor(take: (bytes: Uint8Array) => void) {
    super(wasi.RIGHTS_FD_WRITE);
    this.#take = take;
  }

  override fd_write(data: Uint8Array): ReturnType<Fd["fd_write"]> {
    this.#take(data);
    return { ret: errno.success, nwritten: data.byteLength };
  }
}

/** All of what was written, as far as `limit`. One piece of memory, however small and many the writes are. */
export class Collected {
  readonly #limit: number;
  readonly #onTooMuch: () => void;
  #room = new Uint8Array(0);
  #byteLength = 0;

  constructor(limit: number, onTooMuch: () => void) {
    this.#limit = limit;
    this.#onTooMuch = onTooMuch;
  }

  add(bytes: Uint8Array): void {
    const end = this.#byteLength + bytes.byteLength;
    if (end > this.#limit) return this.#onTooMuch();
    if (end > this.#room.length) {
      const room = new Uint8Array(Math.min(this.#limit, Math.max(end, this.#room.length * 2)));
      room.set(this.#room);
      this.#room = room;
    }
    this.#room.set(bytes, this.#byteLength);
    this.#byteLength = end;
  }

  bytes(): Uint8Array<ArrayBuffer> {
    return this.#room.slice(0, this.#byteLength);
  }
}

/** The first bytes of what was written; the rest is dropped. */
export class Kept {
  readonly #all: Collected;
  #room: number;

  constructor(limit: number) {
    this.#all = new Collected(limit, () => {});
    this.#room = limit;
  }

  add(bytes: Uint8Array): void {
    const kept = bytes.subarray(0, this.#room);
    this.#room -= kept.length;
    if (kept.length > 0) this.#all.add(kept);
  }

  bytes(): Uint8Array<ArrayBuffer> {
    return this.#all.bytes();
  }
}
