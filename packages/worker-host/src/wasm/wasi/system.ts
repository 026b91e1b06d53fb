import { WASI, wasi } from "@bjorn3/browser_wasi_shim";
import type { RealSources } from "@keyhole/kernel";
import type { CallSources } from "@keyhole/kernel/guest";
import { type Machine, RunStopped } from "../machine/machine.ts";
import type { Suspension } from "../machine/suspend.ts";
import { type ReplayJournal, Unanswered } from "../machine/replay-journal.ts";
import { clockFunctions, RunClock } from "./clock.ts";
import { FileRoom } from "./file.ts";
import { type Ask, Folder } from "./folder.ts";
import { errno, unsupportedNames, waitingNames, wasiNames } from "./names.ts";
import { Input, Output } from "./streams.ts";

/** The arguments of a program, and the receivers of its output. */
export interface Program {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly stdin: Uint8Array;
  readonly stdout: (bytes: Uint8Array) => void;
  readonly stderr: (bytes: Uint8Array) => void;
}

/** The requests of a run, and their receivers. */
export interface World {
  readonly ask: Ask;
  readonly sources: CallSources;
  /** Which of the sources are real: what they say is written down. */
  readonly real: RealSources;
  readonly journal: ReplayJournal;
}

export interface WasiSystem {
  readonly imports: Readonly<Record<string, WasiFunction>>;
  /** Stores the files that the program left open; `false` where that was refused. Throws {@link Unanswered} while there is no answer. */
  flush(): boolean;
}

type WasiFunction = (...values: never[]) => unknown;

/** WASI's own bound for one list of buffers (`IOV_MAX`). */
const MAX_BUFFERS = 1_024;

/**
 * WASI preview 1 for one run. The shim reads and writes the structures of the interface; time, chance, files, streams and the end of the program are
 * ours. Bytes that cross are paid for before they do.
 */
export function wasiSystem(machine: Machine, suspension: Suspension, program: Program, world: World): WasiSystem {
  const room = new FileRoom((byteLength) => machine.charge(byteLength));
  const { args, environment, stdin, stdout, stderr } = program;
  const root = new Folder({ ask: world.ask, room }, "", undefined, "/");
  const shim = new WASI([], [], [new Input(stdin), new Output(stdout), new Output(stderr), root], { debug: false });
  shim.inst = { exports: { memory: memoryOf(machine) } };
  const own: Readonly<Record<string, unknown>> = {
    ...shim.wasiImport,
    ...measured(machine, shim.wasiImport),
    ...texts(machine, "args", args),
    ...texts(
      machine,
      "environ",
      Object.entries(environment).map(([name, value]) => `${name}=${value}`),
    ),
    ...clockFunctions(machine, new RunClock(world.journal, world.sources.now, world.real.clock)),
    random_get: (at: number, count: number) => randomBytes(machine, world, at >>> 0, count >>> 0),
    proc_exit: (code: number) => machine.stop({ kind: "exited", code: code >>> 0 }),
    proc_raise: (signal: number) => machine.stop({ kind: "failed", message: `it raised the signal ${signal >>> 0}` }),
    ...Object.fromEntries(unsupportedNames.map((name) => [name, () => errno.notsup])),
  };
  const guarded = (name: string): WasiFunction => {
    const work = guard(machine, own[name] as (...values: unknown[]) => unknown);
    return waitingNames.has(name) ? suspension.import(work) : work;
  };
  return {
    imports: Object.fromEntries([...wasiNames].map((name) => [name, guarded(name)])),
    flush: () => [...room.files].every((file) => file.flush() === errno.success),
  };
}

/** The shim looks at the memory at each call, because it may have grown. */
function memoryOf(machine: Machine): WebAssembly.Memory {
  return {
    get buffer() {
      return machine.bytes().buffer;
    },
  } as WebAssembly.Memory;
}

/** A pointer that leads out of the memory is the program's error, and not ours. */
function guard(machine: Machine, work: (...values: unknown[]) => unknown): (...values: unknown[]) => unknown {
  return (...values) => {
    if (machine.ending !== undefined) throw new RunStopped();
    try {
      machine.serve(1);
      return work(...values);
    } catch (error) {
      if (error instanceof RunStopped || error instanceof Unanswered) throw error;
      return errno.fault;
    }
  };
}

/** Functions that move as much as the program says: what it writes is paid for before, what it reads when it is known how much that is. */
function measured(machine: Machine, functions: WASI["wasiImport"]): Record<string, WasiFunction> {
  const call = (name: string, values: readonly unknown[]): number => Number(functions[name]?.(...values));
  const writing =
    (name: string) =>
    (...values: number[]): number => {
      const total = bufferBytes(machine, values[1], values[2]);
      if (total === undefined) return errno.inval;
      machine.charge(total);
      return call(name, values);
    };
  const reading =
    (name: string, movedAt: number) =>
    (...values: number[]): number => {
      if (name !== "fd_readdir" && bufferBytes(machine, values[1], values[2]) === undefined) return errno.inval;
      const result = call(name, values);
      if (result === errno.success) machine.charge(readU32(machine, values[movedAt]));
      return result;
    };
  const path =
    (name: string, lengthAt: number) =>
    (...values: number[]): number => {
      const length = (values[lengthAt] ?? 0) >>> 0;
      if (length > MAX_PATH) return errno.inval;
      machine.charge(length);
      return call(name, values);
    };
  return {
    fd_read: reading("fd_read", 3),
    fd_pread: reading("fd_pread", 4),
    fd_readdir: reading("fd_readdir", 4),
    fd_write: writing("fd_write"),
    fd_pwrite: writing("fd_pwrite"),
    path_open: path("path_open", 3),
    path_filestat_get: path("path_filestat_get", 3),
    path_unlink_file: path("path_unlink_file", 2),
  };
}

/** All that a list of buffers holds; `undefined` for a list that is too long, or leads out of the memory. */
function bufferBytes(machine: Machine, from = 0, count = 0): number | undefined {
  if (count >>> 0 > MAX_BUFFERS) return undefined;
  machine.serve(count >>> 0);
  const view = new DataView(machine.bytes().buffer);
  let total = 0;
  for (const { buf, buf_len: size } of wasi.Iovec.read_bytes_array(view, from >>> 0, count >>> 0)) {
    if (buf + size > view.byteLength) return undefined;
    total += size;
  }
  return total;
}

function readU32(machine: Machine, at = 0): number {
  return new DataView(machine.bytes().buffer).getUint32(at >>> 0, true);
}

const MAX_PATH = 4_096;

/** `NAME_get` and `NAME_sizes_get`: a list of texts, each with a zero behind it. */
function texts(machine: Machine, name: string, list: readonly string[]): Record<string, WasiFunction> {
  const encoder = new TextEncoder();
  const encoded = list.map((text) => encoder.encode(`${text}\0`));
  return {
    [`${name}_sizes_get`](countAt: number, bytesAt: number) {
      const view = new DataView(machine.bytes().buffer);
      view.setUint32(countAt >>> 0, encoded.length, true);
      view.setUint32(
        bytesAt >>> 0,
        encoded.reduce((sum, each) => sum + each.length, 0),
        true,
      );
      return errno.success;
    },
    [`${name}_get`](pointersAt: number, bytesAt: number) {
      const memory = machine.bytes();
      const view = new DataView(memory.buffer);
      let at = bytesAt >>> 0;
      for (const [i, each] of encoded.entries()) {
        view.setUint32((pointersAt >>> 0) + i * 4, at, true);
        memory.set(each, at);
        at += each.length;
      }
      return errno.success;
    },
  };
}

/** Drawn as one service of the host: each is a step of a generator. */
const RANDOM_BYTES = 16;

function randomBytes(machine: Machine, { sources, real, journal }: World, at: number, count: number): number {
  if (at + count > machine.bytes().byteLength) return errno.fault;
  machine.serve(Math.ceil(count / RANDOM_BYTES));
  machine.charge(count);
  const draw = (): Uint8Array => Uint8Array.from({ length: count }, () => Math.floor(sources.random() * 256));
  machine.bytes().set(real.random ? journal.observe(draw) : draw(), at);
  return errno.success;
}
