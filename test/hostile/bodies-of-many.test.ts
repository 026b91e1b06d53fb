import { BodyReader } from "@keyhole/kernel/foreign";
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Uploads } from "../../packages/edge/src/app/upload.ts";

// A caller can send any number of requests at the same time, and can send each as slowly as it likes.

const mebi = 1 << 20;
const most = 8 * mebi;

/** A body that gives all that is asked for, and ends when told to. */
function endless(pieceBytes = 16_384) {
  let sent = 0;
  let isEnded = false;
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // As of a network: not in the turn of the reader.
        await new Promise(setImmediate);
        if (isEnded) return controller.close();
        sent += pieceBytes;
        controller.enqueue(new Uint8Array(pieceBytes));
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, end: () => void (isEnded = true), sent: () => sent };
}

/** A body of so many bytes that stalls then, until it is told to go on or to end. */
function stalled(bytes: number, pieceBytes = 16_384) {
  let left = bytes;
  let sent = 0;
  let isEnded = false;
  let told = Promise.withResolvers<void>();
  const tell = (): void => {
    told.resolve();
    told = Promise.withResolvers();
  };
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        while (left <= 0 && !isEnded) await told.promise;
        if (left <= 0) return controller.close();
        const length = Math.min(left, pieceBytes);
        left -= length;
        sent += length;
        controller.enqueue(new Uint8Array(length));
      },
    },
    { highWaterMark: 0 },
  );
  const more = (): void => {
    left = 1;
    tell();
  };
  const end = (): void => {
    isEnded = true;
    tell();
  };
  return { reader: stream.getReader(), more, end, sent: () => sent };
}

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
};
const lengthOf = (bytes: Uint8Array): number => bytes.length;

afterEach(() => void vi.useRealTimers());

describe("bodies that are read into memory", () => {
  it("of one sender take at most half of the places", async () => {
    const bodies = new BodyReader();
    const sent = Array.from({ length: 20 }, () => stalled(mebi));
    const reads = sent.map(({ reader }) => bodies.read("flood", reader, most, lengthOf));
    await settle();
    expect(sent.reduce((sum, body) => sum + body.sent(), 0)).toBe(2 * mebi + 18 * 2 * 16_384);
    const other = stalled(mebi);
    const read = bodies.read("other", other.reader, most, lengthOf);
    await settle();
    other.end();
    expect(await read).toEqual({ ok: true, value: mebi });
    for (let turn = 0; turn < sent.length; turn++) {
      for (const body of sent) body.end();
      await settle();
    }
    expect(await Promise.all(reads)).toEqual(sent.map(() => ({ ok: true, value: mebi })));
  });

  it("wait for no place where they are small", async () => {
    const bodies = new BodyReader();
    for (let flood = 0; flood < 20; flood++) void bodies.read("flood", stalled(mebi).reader, most, lengthOf);
    await settle();
    for (const [bytes, reads] of [
      [16_384, true],
      [16_385, false],
    ] as const) {
      const { reader, end } = stalled(bytes);
      let length: unknown;
      void bodies.read("flood", reader, most, lengthOf).then((read) => (length = read.ok && read.value));
      await settle();
      end();
      await settle();
      expect(length).toBe(reads ? bytes : undefined);
    }
  });

  it("are refused after 10 s without a place, and keep their own time when they get one", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const bodies = new BodyReader();
    const first = [stalled(mebi), stalled(mebi)];
    for (const { reader } of first) void bodies.read("a", reader, most, lengthOf);
    await settle();
    const late = bodies.read("a", stalled(mebi).reader, most, lengthOf);
    await settle();
    await vi.advanceTimersByTimeAsync(9_000);
    for (const { more } of first) more();
    await vi.advanceTimersByTimeAsync(999);
    const next = bodies.read("a", stalled(mebi).reader, most, lengthOf);
    await settle();
    await vi.advanceTimersByTimeAsync(1);
    expect(await late).toMatchObject({ ok: false, reason: "busy" });
    // Both of the first are silent for 10 s then: their places are free.
    await vi.advanceTimersByTimeAsync(9_000);
    await settle();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await next).toMatchObject({ ok: false, reason: "late", message: "The body was silent for 10 s." });
  });

  it("give their places back, however they end", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("whole", "large", "breaks", "use throws"), { minLength: 1, maxLength: 12 }),
        async (ends) => {
          const bodies = new BodyReader();
          for (const how of ends) {
            const pieces = [1, 2, 3].map(() => new Uint8Array(16_384));
            const stream = new ReadableStream<Uint8Array>({
              pull(controller) {
                const piece = pieces.pop();
                if (piece) controller.enqueue(piece);
                else if (how === "breaks") controller.error(new Error("gone"));
                else controller.close();
              },
            });
            const use = (): string => {
              if (how === "use throws") throw new Error("no JSON");
              return "read";
            };
            const read = await bodies.read("a", stream.getReader(), how === "large" ? 40_000 : most, use).catch(String);
            expect(read).toEqual(
              {
                whole: { ok: true, value: "read" },
                large: { ok: false, reason: "too-large", message: "The body has more bytes than the limit of 40000." },
                breaks: { ok: false, reason: "broken", message: expect.any(String) },
                "use throws": "Error: no JSON",
              }[how],
            );
          }
        },
      ),
      { numRuns: 20 },
    ));
});

describe("uploads of calls that wait", () => {
  const request = (body: ReadableStream<Uint8Array>): Request =>
    new Request("https://edge.example/", { method: "POST", body, duplex: "half" } as RequestInit);

  it("of one caller are read ahead up to its share of the memory", async () => {
    const uploads = new Uploads();
    const bodies = Array.from({ length: 10 }, () => endless(262_144));
    const opened = bodies.map(({ stream }) => uploads.open("flood", request(stream), true));
    await settle();
    const sum = (): number => bodies.reduce((all, { sent }) => all + sent(), 0);
    // Each body has a piece on its way beyond its part.
    expect(sum()).toBeLessThanOrEqual(16 * mebi + bodies.length * 262_144);
    const other = endless(262_144);
    const theirs = uploads.open("other", request(other.stream), true);
    await settle();
    expect(other.sent()).toBeGreaterThanOrEqual(7 * mebi);
    // A tool reads on, whether there is room or not.
    const reader = opened[9]!.stream.getReader();
    for (let piece = 0; piece < 100; piece++) expect((await reader.read()).value).toHaveLength(262_144);
    for (const { end } of [...bodies, other]) end();
    for (const upload of [...opened, theirs]) await upload.drain();
    const again = endless(262_144);
    const last = uploads.open("flood", request(again.stream), true);
    await settle();
    expect(again.sent()).toBe(8 * mebi);
    again.end();
    await last.drain();
  });

  it("come to the tool as they were sent", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ minLength: 1, maxLength: 64 }), { maxLength: 20 }),
        fc.boolean(),
        async (pieces, readsAhead) => {
          const body = new ReadableStream<Uint8Array>({
            start(controller) {
              for (const piece of pieces) controller.enqueue(piece);
              controller.close();
            },
          });
          const { stream, drain } = new Uploads().open("a", request(body), readsAhead);
          const read = new Uint8Array(await new Response(stream).arrayBuffer());
          expect([...read]).toEqual(pieces.flatMap((piece) => [...piece]));
          await drain();
        },
      ),
    ));

  it("that break are broken for the tool", async () => {
    const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("gone")) });
    const { stream, drain } = new Uploads().open("a", request(body), true);
    await settle();
    await expect(stream.getReader().read()).rejects.toThrow("gone");
    await drain();
  });
});
