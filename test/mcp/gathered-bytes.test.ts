import fc from "fast-check";
import { BodyReader, GatheredBytes } from "@keyhole/kernel/foreign";
import { afterEach, expect, it, vi } from "vitest";
import { LineReader } from "../../packages/mcp/src/node/line-reader.ts";
import { readJson } from "../../packages/mcp/src/server/read-json.ts";

const cut = (bytes: Uint8Array, pieceBytes: number): readonly Uint8Array<ArrayBuffer>[] =>
  Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, at) =>
    bytes.slice(at * pieceBytes, (at + 1) * pieceBytes),
  );

it("bytes are the same in any pieces, in a buffer of their own", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.integer({ min: 1, max: 50 }), (bytes, pieceBytes) => {
      const gathered = new GatheredBytes();
      for (const piece of cut(bytes, pieceBytes)) gathered.add(piece);
      expect(gathered.length).toBe(bytes.length);
      const taken = gathered.take();
      expect([...taken]).toEqual([...bytes]);
      expect([taken.buffer.byteLength, gathered.length]).toEqual([bytes.length, 0]);
    }),
  );
});

it("lines are the same in any pieces, up to their bound", () => {
  const lines = fc.array(fc.string({ unit: fc.constantFrom("a", "é", "\r"), maxLength: 6 }), { maxLength: 6 });
  fc.assert(
    fc.property(lines, fc.integer({ min: 1, max: 9 }), (texts, pieceBytes) => {
      const read: string[] = [];
      let isTooLong = false;
      const reader = new LineReader(
        10,
        (line) => void read.push(line),
        () => (isTooLong = true),
      );
      const bytes = new TextEncoder().encode(texts.map((text) => `${text}\n`).join(""));
      for (const piece of cut(bytes, pieceBytes)) reader.take(Buffer.from(piece));
      const over = texts.findIndex((text) => new TextEncoder().encode(text).length > 10);
      expect(read).toEqual(over < 0 ? texts : texts.slice(0, over));
      expect(isTooLong).toBe(over >= 0);
    }),
  );
});

it("a body of single bytes is read as one, and holds no object for each", async () => {
  const text = `{"a":"${"é".repeat(200_000)}"}`;
  const pieces = cut(new TextEncoder().encode(text), 1).values();
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { value, done } = pieces.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
  });
  const request = new Request("https://x.example/", { method: "POST", body, duplex: "half" } as RequestInit);
  expect(await readJson(new BodyReader(), "desk", request, 1 << 20)).toEqual({
    ok: true,
    value: JSON.parse(text) as unknown,
  });
});

afterEach(() => void vi.useRealTimers());

it.each([
  ["is silent for 10 s", 0, 10_000],
  ["drips for 30 s", 9_000, 30_000],
])("a body whose sender %s ends there, unread", async (_, everyMs, afterMs) => {
  vi.useFakeTimers();
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new Uint8Array(1));
      if (everyMs > 0) setInterval(() => controller.enqueue(new Uint8Array(1)), everyMs);
    },
    cancel: () => void (isCancelled = true),
  });
  const request = new Request("https://x.example/", { method: "POST", body, duplex: "half" } as RequestInit);
  const read = readJson(new BodyReader(), "desk", request, 1 << 20);
  await vi.advanceTimersByTimeAsync(afterMs - 1);
  expect(isCancelled).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(isCancelled).toBe(true);
  expect(await read).toMatchObject({ ok: false, status: 408, code: -32_000 });
});
