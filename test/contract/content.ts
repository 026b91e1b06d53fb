import { type ContentStore, hashBytes } from "@keyhole/kernel";
import { beforeEach, describe, expect, it } from "vitest";

/** What every content store must do. `make` gives one that is empty. */
export function describeContentStore(name: string, make: () => ContentStore | Promise<ContentStore>): void {
  describe(`the content store ${name}`, () => {
    let store: ContentStore;
    beforeEach(async () => {
      store = await make();
    });
    const values = ["", "a", "é\u0000", "x".repeat(200_000)].map((text) => new TextEncoder().encode(text));

    it("gives back what was put, under its digest and no other", async () => {
      for (const bytes of values) await store.put(hashBytes(bytes), bytes);
      for (const bytes of values) expect(await store.get(hashBytes(bytes))).toEqual(bytes);
      expect(await store.get(hashBytes(Uint8Array.of(1)))).toBeUndefined();
    });

    it("keeps digests of different algorithms apart", async () => {
      const [one, other] = ["blake3", "sha256"].map((algorithm) => `${algorithm}:${"a".repeat(64)}`) as [
        string,
        string,
      ];
      await store.put(one, values[1]!);
      expect(await store.get(other)).toBeUndefined();
    });

    it("says how large a value may be, and takes none beyond", async () => {
      const tooLarge = new Uint8Array(store.maxBytes! + 1);
      await expect(store.put(`blake3:${"a".repeat(64)}`, tooLarge)).rejects.toThrow(
        `takes values of ${store.maxBytes} bytes`,
      );
    });

    it("takes the same again, and at the same time", async () => {
      const [, bytes] = values as [Uint8Array, Uint8Array];
      await Promise.all([store.put(hashBytes(bytes), bytes), store.put(hashBytes(bytes), bytes)]);
      await store.put(hashBytes(bytes), bytes);
      expect(await store.get(hashBytes(bytes))).toEqual(bytes);
    });

    it("forgets, also what it never had", async () => {
      const [, bytes, other] = values as [Uint8Array, Uint8Array, Uint8Array];
      await store.put(hashBytes(bytes), bytes);
      await store.put(hashBytes(other), other);
      await store.delete(hashBytes(bytes));
      await store.delete(hashBytes(bytes));
      expect(await store.get(hashBytes(bytes))).toBeUndefined();
      expect(await store.get(hashBytes(other))).toEqual(other);
    });

    it.each(["", "blake3:", "../../etc/passwd", `blake3:${"a".repeat(63)}/`, `BLAKE3:${"a".repeat(64)}`])(
      "refuses %j, which is not a digest",
      async (digest) => {
        await expect(store.put(digest, values[1]!)).rejects.toThrow("is not a digest");
        await expect(store.get(digest)).rejects.toThrow("is not a digest");
        await expect(store.delete(digest)).rejects.toThrow("is not a digest");
      },
    );
  });
}
