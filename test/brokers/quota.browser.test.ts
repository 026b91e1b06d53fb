import { opfsStore } from "@keyhole/worker-host/brokers/files-opfs";
import { indexedDbKv } from "@keyhole/worker-host/brokers/kv-indexeddb";
import { afterEach, expect, it, vi } from "vitest";
import { cdp } from "vitest/browser";

interface Protocol {
  send(method: string, params: object): Promise<unknown>;
}

/** What the browser gives this origin, until it is told otherwise. */
const setQuota = (quotaSize?: number) =>
  (cdp() as unknown as Protocol).send("Storage.overrideQuotaForOrigin", {
    origin: location.origin,
    ...(quotaSize !== undefined && { quotaSize }),
  });

afterEach(() => setQuota());

const large = new Uint8Array(900_000).map(() => Math.random() * 256);

async function fill(write: (name: string) => Promise<{ ok: boolean }>): Promise<{ ok: boolean }> {
  for (let i = 0; i < 50; i++) {
    const written = await write(`full-${i}`);
    if (!written.ok) return written;
  }
  return { ok: true };
}

it("IndexedDB says that it is full when the browser does, and takes again what fits", async () => {
  const store = indexedDbKv({ database: "quota" });
  await store.put("first", new Uint8Array([1]));
  // The browser's own quota is not asked for every transaction, so that its answer is put in its place.
  const full = vi.spyOn(IDBObjectStore.prototype, "put").mockImplementation(() => {
    throw new DOMException("full", "QuotaExceededError");
  });
  expect(await store.put("second", large)).toEqual({ ok: false, fault: "no-space" });
  full.mockRestore();
  expect(await store.get("first", 10)).toEqual({ ok: true, value: new Uint8Array([1]) });
  expect(await store.get("second", 10)).toEqual({ ok: false, fault: "not-found" });
  expect(await store.put("second", large)).toMatchObject({ ok: true });
});

it("the origin private file system that is full says so, and leaves no part of a file", async () => {
  const store = opfsStore({ folder: "quota" });
  await store.write("first", new Uint8Array([1]));
  await setQuota(1_000_000);
  expect(await fill((name) => store.write(name, large))).toEqual({ ok: false, fault: "no-space" });
  expect(await store.write("folder/in/folder/file", large)).toEqual({ ok: false, fault: "no-space" });
  expect(await store.stat("folder")).toEqual({ ok: false, fault: "not-found" });
  const listed = await store.list("");
  expect(listed.ok && listed.value.every(({ byteLength }) => byteLength === 1 || byteLength === 900_000)).toBe(true);
  await setQuota();
  expect(await store.write("last", large)).toMatchObject({ ok: true });
});
