import { memoryStore } from "@keyhole/worker-host/brokers/files";
import { opfsStore } from "@keyhole/worker-host/brokers/files-opfs";
import { afterEach, expect, it, vi } from "vitest";
import { filesContract } from "../contract/broker.ts";

const folder = "keyhole-contract";

afterEach(async () => {
  const top = await navigator.storage.getDirectory();
  await top.removeEntry(folder, { recursive: true }).catch(() => {});
});

filesContract("memory", () => memoryStore());
filesContract("OPFS", () => opfsStore({ folder }));

it("OPFS serves a dedicated worker too", async () => {
  const worker = new Worker(new URL("./opfs-worker.ts", import.meta.url), { type: "module" });
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  worker.addEventListener("message", ({ data }) => resolve(data), { once: true });
  worker.addEventListener("error", ({ message }) => reject(new Error(message)), { once: true });
  expect(await promise).toEqual({
    write: { ok: true, value: null },
    list: { ok: true, value: { entries: [{ name: "b", kind: "file", byteLength: 13 }], leftOut: 0 } },
    text: "from a worker",
  });
  worker.terminate();
});

const bytes = new TextEncoder().encode("whole");

it.each([
  "OPFS shows a new file when it is whole, and nothing of it before",
  "OPFS shows a replaced file until the new one is whole",
])("%s", async (title) => {
  const store = opfsStore({ folder });
  const isNew = title.includes("nothing");
  if (!isNew) await store.write("d/file", new Uint8Array(1));
  await store.write("d/other", bytes);
  const meanwhile: unknown[] = [];
  const { write } = FileSystemWritableFileStream.prototype;
  const spy = vi.spyOn(FileSystemWritableFileStream.prototype, "write").mockImplementation(async function (
    this: FileSystemWritableFileStream,
    data,
  ) {
    await write.call(this, data);
    const listed = await store.list("d");
    meanwhile.push(listed.ok && listed.value.map(({ name, byteLength }) => `${name} ${byteLength}`).toSorted());
    meanwhile.push(await store.read("d/file", 100));
  });
  expect(await store.write("d/file", bytes)).toMatchObject({ ok: true });
  spy.mockRestore();
  const absent = { ok: false, fault: "not-found" };
  expect(meanwhile).toEqual([
    isNew ? ["other 5"] : ["file 1", "other 5"],
    isNew ? absent : { ok: true, value: new Uint8Array(1) },
  ]);
  expect(await store.read("d/file", 100)).toEqual({ ok: true, value: bytes });
});

it.each(["d/new", "d/replaced"])("OPFS takes away what a page left that ended while it wrote %s", async (path) => {
  const worker = new Worker(new URL("./opfs-ended-worker.ts", import.meta.url), { type: "module" });
  const heard = () => new Promise((resolve) => worker.addEventListener("message", resolve, { once: true }));
  await heard();
  worker.postMessage(path);
  await heard();
  worker.terminate();
  const store = opfsStore({ folder });
  const before = path === "d/new" ? { ok: false, fault: "not-found" } : { ok: true, value: new Uint8Array(1) };
  expect(await store.read(path, 100)).toEqual(before);
  expect(await store.list("d")).toMatchObject({ value: [{ name: "replaced", byteLength: 1 }] });
  expect(await store.write(path, bytes)).toMatchObject({ ok: true });
  const top = await navigator.storage.getDirectory();
  const names = new Set(["d", "d/replaced", path]);
  expect(await namesBelow(await top.getDirectoryHandle(folder))).toEqual([...names].toSorted());
});

async function namesBelow(handle: FileSystemDirectoryHandle): Promise<string[]> {
  const names: string[] = [];
  for await (const [name, child] of handle.entries()) {
    names.push(name);
    if (child.kind === "directory") for (const below of await namesBelow(child)) names.push(`${name}/${below}`);
  }
  return names.toSorted();
}

it("OPFS has a file at every moment in which it is replaced", async () => {
  const store = opfsStore({ folder });
  const sizes = [20_000, 30_000];
  await store.write("file", new Uint8Array(sizes[0]!));
  let isOver = false;
  const writes = (async () => {
    for (let at = 0; at < 20; at++) await opfsStore({ folder }).write("file", new Uint8Array(sizes[at % 2]!));
    isOver = true;
  })();
  while (!isOver) {
    const read = await store.read("file", 100_000);
    expect(read.ok ? sizes.includes(read.value.byteLength) : read.fault).toBe(true);
  }
  await writes;
});
