import { Fd, wasi } from "@bjorn3/browser_wasi_shim";
import { errno } from "./names.ts";

/** A file crosses to a tool in one message, and no broker carries larger ones. */
const FILE_BYTES = 16_777_216;
/** Of all files and lists that a run has open. They are held here, outside the memory that the run is bounded by. */
const OPEN_BYTES = 33_554_432;
const OPEN_FILES = 64;

/** The bytes that one open file or folder holds outside the memory of its run. */
export class HeldBytes {
  readonly #room: FileRoom;
  #byteLength = 0;
  #isOpen = true;

  constructor(room: FileRoom) {
    this.#room = room;
  }

  /**
   * Makes them `byteLength` by `hold`, which does not run where the room is full: an owner that
   * forgets the fault holds nothing.
   */
  resize(byteLength: number, hold: () => void): number {
    if (!this.#isOpen) return errno.badf;
    if (!this.#room.add(byteLength - this.#byteLength)) return errno.nospc;
    this.#byteLength = byteLength;
    hold();
    return errno.success;
  }

  /** Once: a program that closes again gives nothing back. */
  close(): void {
    if (this.#isOpen) this.#room.leave(this.#byteLength);
    this.#isOpen = false;
  }
}

/** Counts the open files of one run, and their bytes. */
export class FileRoom {
  readonly files: Set<OpenFile> = new Set();
  /** Takes the fuel of bytes that the host copies or clears for the run. Called before it does. */
  readonly charge: (byteLength: number) => void;
  #open = 0;
  #byteLength = 0;

  constructor(charge: (byteLength: number) => void) {
    this.charge = charge;
  }

  /** @param open makes what is opened, or says why not */
  take<F extends Fd>(open: (held: HeldBytes) => F | number): { ret: number; fd_obj: F | null } {
    if (this.#open >= OPEN_FILES) return { ret: errno.mfile, fd_obj: null };
    const opened = open(new HeldBytes(this));
    if (typeof opened === "number") return { ret: opened, fd_obj: null };
    this.#open += 1;
    return { ret: errno.success, fd_obj: opened };
  }

  /** Called by {@link HeldBytes} alone. */
  add(byteLength: number): boolean {
    if (this.#byteLength + byteLength > OPEN_BYTES) return false;
    this.#byteLength += byteLength;
    return true;
  }

  /** Called by {@link HeldBytes} alone. */
  leave(byteLength: number): void {
    this.#open -= 1;
    this.#byteLength -= byteLength;
  }
}

interface FileUse {
  readonly isWritten: boolean;
  readonly appends: boolean;
}

/** One open file: its content is here, and goes back when it is closed, synchronized, or when the program ends. */
export class OpenFile extends Fd {
  readonly #store: (data: Uint8Array) => number;
  readonly #room: FileRoom;
  readonly #held: HeldBytes;
  readonly #isWritten: boolean;
  readonly #appends: boolean;
  #data: Uint8Array = new Uint8Array();
  #size = 0;
  #at = 0n;
  #isDirty = false;

  /** The file with its content, or the fault of a run that has no room for it. */
  static open(
    store: (data: Uint8Array) => number,
    content: Uint8Array,
    room: FileRoom,
    use: FileUse,
  ): ReturnType<typeof room.take<OpenFile>> {
    return room.take((held) => {
      const file = new OpenFile(store, room, held, use);
      room.charge(content.byteLength);
      const fault = held.resize(content.byteLength, () => {
        file.#data = content.slice(); // The answer that it came in may be read again.
        file.#size = content.byteLength;
        room.files.add(file);
      });
      return fault === errno.success ? file : fault;
    });
  }

  private constructor(
    store: (data: Uint8Array) => number,
    room: FileRoom,
    held: HeldBytes,
    { isWritten, appends }: FileUse,
  ) {
    super();
    [this.#store, this.#room, this.#held] = [store, room, held];
    [this.#isWritten, this.#appends] = [isWritten, appends];
  }

  override fd_fdstat_get(): ReturnType<Fd["fd_fdstat_get"]> {
    const fdstat = new wasi.Fdstat(wasi.FILETYPE_REGULAR_FILE, 0);
    fdstat.fs_rights_base = (1n << 30n) - 1n;
    return { ret: errno.success, fdstat };
  }

  override fd_filestat_get(): ReturnType<Fd["fd_filestat_get"]> {
    return { ret: errno.success, filestat: new wasi.Filestat(0n, wasi.FILETYPE_REGULAR_FILE, BigInt(this.#size)) };
  }

  override fd_filestat_set_size(size: bigint): number {
    if (!this.#isWritten) return errno.badf;
    const fault = this.#resize(size);
    if (fault === errno.success) this.#isDirty = true;
    return fault;
  }

  override fd_seek(offset: bigint, whence: number): ReturnType<Fd["fd_seek"]> {
    const bases = new Map([
      [wasi.WHENCE_SET, 0n],
      [wasi.WHENCE_CUR, this.#at],
      [wasi.WHENCE_END, BigInt(this.#size)],
    ]);
    const base = bases.get(whence);
    if (base === undefined || base + offset < 0n) return { ret: errno.inval, offset: 0n };
    this.#at = base + offset;
    return { ret: errno.success, offset: this.#at };
  }

  override fd_tell(): ReturnType<Fd["fd_tell"]> {
    return { ret: errno.success, offset: this.#at };
  }

  override fd_read(size: number): ReturnType<Fd["fd_read"]> {
    const read = this.fd_pread(size, this.#at);
    this.#at += BigInt(read.data.length);
    return read;
  }

  override fd_pread(size: number, offset: bigint): ReturnType<Fd["fd_pread"]> {
    const at = offset < 0n || offset > BigInt(this.#size) ? this.#size : Number(offset);
    return { ret: errno.success, data: this.#data.subarray(at, Math.min(at + size, this.#size)) };
  }

  override fd_write(data: Uint8Array): ReturnType<Fd["fd_write"]> {
    if (this.#appends) this.#at = BigInt(this.#size);
    const written = this.fd_pwrite(data, this.#at);
    this.#at += BigInt(written.nwritten);
    return written;
  }

  override fd_pwrite(data: Uint8Array, offset: bigint): ReturnType<Fd["fd_pwrite"]> {
    if (!this.#isWritten) return { ret: errno.badf, nwritten: 0 };
    const end = offset + BigInt(data.byteLength);
    const fault = offset < 0n ? errno.inval : end > BigInt(this.#size) ? this.#resize(end) : errno.success;
    if (fault !== errno.success) return { ret: fault, nwritten: 0 };
    this.#data.set(data, Number(offset));
    this.#isDirty = true;
    return { ret: errno.success, nwritten: data.byteLength };
  }

  /** To at least twice as much as before, so that many small writes do not copy it each time. */
  #resize(wanted: bigint): number {
    if (wanted < 0n || wanted > BigInt(FILE_BYTES)) return errno.fbig;
    const size = Number(wanted);
    const capacity = size > this.#data.byteLength ? Math.max(size, Math.min(FILE_BYTES, this.#size * 2)) : 0;
    this.#room.charge(capacity);
    if (size < this.#size) this.#room.charge(size);
    return this.#held.resize(size, () => {
      if (size < this.#size) this.#data = this.#data.slice(0, size);
      else if (capacity > 0) {
        const data = new Uint8Array(capacity);
        data.set(this.#data.subarray(0, this.#size));
        this.#data = data;
      }
      this.#size = size;
    });
  }

  override fd_sync(): number {
    if (this.#isDirty) this.#room.charge(this.#size);
    return this.flush();
  }

  /** Without fuel, which a program that has ended has no more. Throws, and has done nothing, while nobody has answered. */
  flush(): number {
    if (!this.#isDirty) return errno.success;
    const fault = this.#store(this.#data.slice(0, this.#size));
    if (fault === errno.success) this.#isDirty = false;
    return fault;
  }

  override fd_close(): number {
    if (!this.#room.files.has(this)) return errno.badf;
    const fault = this.fd_sync();
    this.#room.files.delete(this);
    this.#held.close();
    [this.#data, this.#size, this.#isDirty] = [new Uint8Array(), 0, false];
    return fault;
  }
}
