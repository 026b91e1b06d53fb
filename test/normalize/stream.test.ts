import { blake3Hash, hashBytes, normalize } from "@keyhole/kernel";
import { hashStream } from "@keyhole/kernel/stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

async function collect(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const pieces: number[] = [];
  for await (const piece of stream) pieces.push(...piece);
  return Uint8Array.from(pieces);
}

describe("a stream that is hashed while it flows", () => {
  it("has the digest and the bytes of the whole, in pieces of any size", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 3_000 }), { maxLength: 6 }), async (pieces) => {
        const whole = Uint8Array.from(pieces.flatMap((piece) => [...piece]));
        const hashed = hashStream(pieces);
        expect(await collect(hashed)).toEqual(whole);
        const normal = normalize("binary", whole, blake3Hash);
        expect(await hashed.digest).toEqual({ ok: true, hash: normal.ok ? normal.hash : "", byteLength: whole.length });
      }),
    );
  });

  it("takes what a platform streams", async () => {
    const hashed = hashStream(new Response("é".repeat(10_000)).body!);
    const bytes = await collect(hashed);
    expect(await hashed.digest).toEqual({ ok: true, hash: hashBytes(bytes), byteLength: 20_000 });
  });

  it("ends at its limit, before a piece that exceeds it, and stops the source", async () => {
    let given = 0;
    let stopped = false;
    function* endless() {
      try {
        for (;;) {
          given++;
          yield new Uint8Array(100);
        }
      } finally {
        stopped = true;
      }
    }
    const hashed = hashStream(endless(), 1_000);
    expect(await collect(hashed)).toHaveLength(1_000);
    expect(await hashed.digest).toEqual({ ok: false, reason: "too-large", byteLength: 1_000 });
    expect([given, stopped]).toEqual([11, true]);
    const exact = hashStream([new Uint8Array(1_000)], 1_000);
    await collect(exact);
    expect(await exact.digest).toMatchObject({ ok: true, byteLength: 1_000 });
  });

  it("does not change with a buffer that is used again", async () => {
    const buffer = new Uint8Array(4);
    function* reusing() {
      for (let i = 1; i <= 3; i++) yield buffer.fill(i);
    }
    const hashed = hashStream(reusing());
    const pieces: Uint8Array[] = [];
    for await (const piece of hashed) pieces.push(piece);
    expect(pieces.map((piece) => [...piece])).toEqual([
      [1, 1, 1, 1],
      [2, 2, 2, 2],
      [3, 3, 3, 3],
    ]);
    expect(await hashed.digest).toMatchObject({
      hash: hashBytes(Uint8Array.from(pieces.flatMap((piece) => [...piece]))),
    });
  });

  it("has no digest when it breaks, or is not read to its end", async () => {
    async function* broken() {
      yield new Uint8Array(1);
      throw new Error("EIO");
    }
    const hashed = hashStream(broken());
    await expect(collect(hashed)).rejects.toThrow("EIO");
    await expect(hashed.digest).rejects.toThrow("EIO");
    const left = hashStream([new Uint8Array(1), new Uint8Array(1)]);
    for await (const piece of left) if (piece.length > 0) break;
    await expect(left.digest).rejects.toThrow("not read to its end");
  });

  it("holds one piece at a time", async () => {
    let alive = 0;
    let most = 0;
    async function* pieces() {
      for (let i = 0; i < 50; i++) {
        most = Math.max(most, ++alive);
        yield new Uint8Array(1 << 16);
        alive--;
      }
    }
    const hashed = hashStream(pieces());
    for await (const piece of hashed) expect(piece).toHaveLength(1 << 16);
    expect(most).toBe(1);
    expect(await hashed.digest).toMatchObject({ ok: true, byteLength: 50 << 16 });
  });
});
