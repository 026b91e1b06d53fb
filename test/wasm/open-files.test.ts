import type { CapabilityReply, CapabilityRequest } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { FileRoom } from "../../packages/worker-host/src/wasm/wasi/file.ts";
import { Folder } from "../../packages/worker-host/src/wasm/wasi/folder.ts";
import { errno } from "../../packages/worker-host/src/wasm/wasi/names.ts";

const MIB = 2 ** 20;
const WRITE = 64n;
const stored = new Uint8Array(16 * MIB);

interface Writes {
  readonly writes?: number;
  /** Of the first write too many. */
  readonly code?: "CAPABILITY_DENIED" | "UNAVAILABLE";
}

/** A root with files of 16 MiB, and folders of 10,000 entries with long names. It takes so many writes. */
function openRoot({ writes = Infinity, code = "UNAVAILABLE" }: Writes = {}): Folder {
  let written = 0;
  const answers = new Map<string, CapabilityReply>([
    ["stat", { ok: true, value: { name: "big", kind: "file", byteLength: stored.byteLength } }],
    ["read", { ok: true, value: null, body: stored }],
    [
      "list",
      {
        ok: true,
        value: { entries: Array.from({ length: 10_000 }, (_, i) => entry(`${i}`.padStart(255, "x"))), leftOut: 0 },
      },
    ],
  ]);
  const ask = ({ operation, arguments: { path } }: CapabilityRequest): CapabilityReply => {
    if (operation === "stat" && path === "folder")
      return { ok: true, value: { ...entry("folder"), kind: "directory" } };
    if (operation === "stat" && path === "new")
      return { ok: false, error: { code: "NOT_FOUND", message: "", hint: "" } };
    if (operation === "write" && written++ >= writes) return { ok: false, error: { code, message: "no", hint: "" } };
    if (operation === "write") return { ok: true, value: null };
    return answers.get(operation) as CapabilityReply;
  };
  return new Folder({ ask, room: new FileRoom(() => {}) }, "", undefined, "/");
}

const entry = (name: string) => ({ name, kind: "file", byteLength: 0 });

function open(root: Folder, name = "big", rights = 0n, how = 0, flags = 0) {
  const opened = root.path_open(0, name, how, rights, 0n, flags);
  return { ...opened, file: opened.fd_obj as NonNullable<typeof opened.fd_obj> };
}

describe("the open files of a run hold 32 MiB together", () => {
  it("where they are opened", () => {
    const root = openRoot();
    expect([1, 2, 3, 4].map(() => open(root).ret)).toEqual([0, 0, errno.nospc, errno.nospc]);
  });

  it("again after some were closed", () => {
    const root = openRoot();
    const { file } = open(root);
    open(root);
    expect(file.fd_close()).toBe(0);
    expect([open(root).ret, open(root).ret]).toEqual([0, errno.nospc]);
  });

  it("where one was closed twice", () => {
    const root = openRoot({ writes: 1 });
    const { file } = open(root, "big", WRITE);
    file.fd_pwrite(new Uint8Array(1), 0n);
    expect([file.fd_close(), file.fd_close()]).toEqual([errno.io, errno.badf]);
    expect(file.fd_filestat_set_size(1n)).toBe(errno.badf);
    expect([1, 2, 3].map(() => open(root).ret)).toEqual([0, 0, errno.nospc]);
  });

  it("with the lists of folders", () => {
    const root = openRoot();
    const faults = Array.from({ length: 7 }, () => open(root, "folder").file.fd_readdir_single(0n).ret);
    expect(faults).toEqual([0, 0, 0, 0, 0, errno.nospc, errno.nospc]);
  });
});

const [CREATE, TRUNCATE, APPEND] = [1, 8, 1];

describe("a program without the grant to write hears it where it opens", () => {
  it.each<[string, string, bigint, number, number]>([
    ["a new file", "new", WRITE, CREATE, 0],
    ["a new file, to read it", "new", 0n, CREATE, 0],
    ["a file to replace it", "big", WRITE, CREATE | TRUNCATE, 0],
    ["a file to cut it", "big", WRITE, TRUNCATE, 0],
    ["a file to change it", "big", WRITE, 0, 0],
    ["a file to write behind it", "big", WRITE, 0, APPEND],
  ])("%s", (_, name, rights, how, flags) => {
    const root = openRoot({ writes: 0, code: "CAPABILITY_DENIED" });
    expect(open(root, name, rights, how, flags).ret).toBe(errno.access);
    expect(open(root).ret).toBe(0);
    const granted = openRoot({ writes: 1 });
    const { ret, file } = open(granted, name, rights, how, flags);
    expect([ret, file.fd_close()]).toEqual([0, 0]);
  });
});
