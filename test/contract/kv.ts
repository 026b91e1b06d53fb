import type { KvStore } from "@keyhole/worker-host/brokers/kv";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";

const bytes = (content: string): Uint8Array => new TextEncoder().encode(content);
const text = (value: Uint8Array): string => new TextDecoder().decode(value);

/** What every store of values must do, whatever is behind it. `open` gives an empty one. */
export function kvContract(name: string, open: () => KvStore | Promise<KvStore>): void {
  describe(`values in ${name}`, () => {
    let store: KvStore;
    beforeEach(async () => {
      store = await open();
    });

    const put = async (key: string, content = "x"): Promise<void> =>
      expect(await store.put(key, bytes(content)), key).toEqual({ ok: true, value: undefined });
    const get = async (key: string): Promise<string | undefined> => {
      const read = await store.get(key, 1 << 20);
      return read.ok ? text(read.value) : undefined;
    };
    const listed = async (prefix: string, limit = 1_000): Promise<readonly string[]> => {
      const keys: string[] = [];
      for (let after: string | undefined; ;) {
        const page = await store.list(prefix, limit, after);
        if (!page.ok) throw new Error(page.fault);
        expect(page.value.keys.length).toBeLessThanOrEqual(limit);
        keys.push(...page.value.keys);
        if (page.value.next === undefined) return keys;
        after = page.value.next;
      }
    };

    it("gives back what was put, byte by byte", async () => {
      const all = Uint8Array.from({ length: 256 }, (_, i) => i);
      await store.put("bytes", all);
      const read = await store.get("bytes", 256);
      expect(read.ok && read.value).toBeInstanceOf(Uint8Array);
      expect(read.ok && [...read.value]).toEqual([...all]);
    });

    it("takes the part of a buffer that a view shows, and no more", async () => {
      await store.put("view", new Uint8Array([1, 2, 3, 4]).subarray(1, 3));
      const read = await store.get("view", 10);
      expect(read.ok && [...read.value]).toEqual([2, 3]);
      expect(read.ok && read.value.buffer.byteLength).toBe(2);
    });

    it("keeps an empty value, which is not the same as none", async () => {
      await put("empty", "");
      expect(await get("empty")).toBe("");
      expect(await store.get("none", 10)).toEqual({ ok: false, fault: "not-found" });
    });

    it("replaces a value, also by a shorter one", async () => {
      await put("a", "a long text");
      await put("a", "short");
      expect(await get("a")).toBe("short");
      expect(await listed("")).toEqual(["a"]);
    });

    it("deletes, also what is not there", async () => {
      await put("a");
      expect(await store.delete("a")).toEqual({ ok: true, value: undefined });
      expect(await store.delete("a")).toEqual({ ok: true, value: undefined });
      expect(await store.get("a", 10)).toEqual({ ok: false, fault: "not-found" });
      expect(await listed("")).toEqual([]);
    });

    it("holds no reference to what it was given or gave", async () => {
      const given = bytes("before");
      await store.put("a", given);
      given.fill(0);
      const first = await store.get("a", 10);
      if (first.ok) first.value.fill(0);
      expect(await get("a")).toBe("before");
    });

    it("bounds a value at the size that it is asked for and not one byte later", async () => {
      await put("a", "12345");
      expect(await store.get("a", 5)).toMatchObject({ ok: true });
      expect(await store.get("a", 4)).toEqual({ ok: false, fault: "too-large" });
    });

    it("keeps the largest value that the broker lets through", async () => {
      const large = new Uint8Array(1 << 20).fill(7);
      expect(await store.put("large", large)).toMatchObject({ ok: true });
      const read = await store.get("large", 1 << 20);
      expect(read.ok && read.value.every((byte) => byte === 7)).toBe(true);
    });

    it("takes names that mean something elsewhere, and touches nothing else by them", async () => {
      const keys = [
        "__proto__",
        "constructor",
        "toString",
        "a/../b",
        "a'b\"; DROP TABLE kv; --",
        "%2e",
        "a_b%",
        "~",
        " ",
        "\\",
        "é/文件/👩‍💻",
      ];
      for (const [index, key] of keys.entries()) await put(key, String(index));
      for (const [index, key] of keys.entries()) expect(await get(key), key).toBe(String(index));
      expect((await listed("")).toSorted()).toEqual(keys.toSorted());
      expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    });

    it("takes the longest keys", async () => {
      const keys = ["k".repeat(384), "👩".repeat(96)];
      for (const key of keys) await put(key, key);
      for (const key of keys) expect(await get(key)).toBe(key);
    });

    it("lists in the order of UTF-8 bytes, which is not the order of UTF-16 units", async () => {
      const keys = ["a", "😀", "b", "\ue000", "é", "\uffff", "Z"];
      for (const key of keys) await put(`order/${key}`);
      expect(await listed("order/")).toEqual(
        ["Z", "a", "b", "é", "\ue000", "\uffff", "😀"].map((key) => `order/${key}`),
      );
    });

    it("lists what begins with a prefix, and only that", async () => {
      for (const key of ["a", "a/1", "a/2", "a0", "b", "a/\u{10ffff}x"]) await put(key);
      expect(await listed("a/")).toEqual(["a/1", "a/2", "a/\u{10ffff}x"]);
      expect(await listed("a")).toEqual(["a", "a/1", "a/2", "a/\u{10ffff}x", "a0"]);
      expect(await listed("c")).toEqual([]);
      expect(await listed("A")).toEqual([]);
    });

    it.each([1, 2, 3, 6, 7, 8])("gives every key once, in pages of %i", async (limit) => {
      const keys = Array.from({ length: 7 }, (_, i) => `p/${i}`);
      for (const key of ["o", ...keys, "q"]) await put(key);
      expect(await listed("p/", limit)).toEqual(keys);
    });

    it.each(["", "p/9", "zzz", "\u{10ffff}", "not-of-this-prefix", "AAAA", "p/"])(
      "gives no key outside the prefix for the forged position %j",
      async (after) => {
        for (const key of ["a", "p/1", "p/2", "z"]) await put(key);
        const page = await store.list("p/", 10, after);
        if (page.ok) for (const key of page.value.keys) expect(["p/1", "p/2"]).toContain(key);
      },
    );

    it("ends many changes at once with one whole value", async () => {
      const contents = Array.from({ length: 20 }, (_, i) => String(i).padStart(1_000, "x"));
      await Promise.all(contents.map((content) => store.put("same", bytes(content))));
      expect(contents).toContain(await get("same"));
    });

    it("behaves as a map does", async () => {
      const key = fc.constantFrom("a", "a/b", "a/c", "b", "é", "😀");
      const step = fc.oneof(
        fc.record({ kind: fc.constant("put" as const), key, value: fc.string({ maxLength: 8 }) }),
        fc.record({ kind: fc.constant("delete" as const), key, value: fc.constant("") }),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
          for (const each of await listed("")) await store.delete(each);
          const model = new Map<string, string>();
          for (const { kind, key: at, value } of steps) {
            const content = value.toWellFormed();
            if (kind === "put") {
              await put(at, content);
              model.set(at, content);
            } else {
              await store.delete(at);
              model.delete(at);
            }
          }
          expect((await listed("")).toSorted()).toEqual([...model.keys()].toSorted());
          for (const [at, value] of model) expect(await get(at)).toBe(value);
        }),
        { numRuns: 20 },
      );
    });
  });
}
