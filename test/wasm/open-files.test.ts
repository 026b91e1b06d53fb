import type { CapabilityReply, CapabilityRequest } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { FileRoom } from "../../packages/worker-host/src/wasm/wasi/file.ts";
import { Folder } from "../../packages/worker-host/src/wasm/wasi/folder.ts";
import { errno } from "../../packages/worker-host/src/wasm/wasi/names.ts";

const MIB = 2 ** 20;
const WRITE = 64n;
const stored = new Uint8Array(16 * MIB);

/** A root with files of 16 MiB, and folders of 10,000 entries with long names. */
function openRoot({ stores = true } = {}): Folder {
  const answers = new Map<string, CapabilityReply>([
    ["stat", { ok: true, value: { name: "big", kind: "file", byteLength: stored.byteLength } }],
    ["read", { ok: true, value: null, body: stored }],
    ["list", { ok: true, value: Array.from({ length: 10_000 }, (_, i) => entry(`${i}`.padStart(255, "x"))) }],
    [
      "write",
      stores ? { ok: true, value: null } : { ok: false, error: { code: "UNAVAILABLE", message: "no", hint: "" } },
    ],
  ]);
  const ask = ({ operation, arguments: { path } }: CapabilityRequest): CapabilityReply => {
    if (operation === "stat" && path === "folder")
      return { ok: true, value: { ...entry("folder"), kind: "directory" } };
    return answers.get(operation) as CapabilityReply;
  };
  return new Folder({ ask, room: new FileRoom(() => {}) }, "", undefined, "/");
}

const entry = (name: string) => ({ name, kind: "file", byteLength: 0 });

function open(root: Folder, name = "big", rights = 0n) {
  const opened = root.path_open(0, name, 0, rights, 0n, 0);
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
    const root = openRoot({ stores: false });
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
