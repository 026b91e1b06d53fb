import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  isTooLarge,
  mostPacketBytes,
  packed,
  unpacked,
  unpackedOfGuest,
} from "../../packages/edge/src/isolate/packet.ts";
import { sized } from "../support/size.ts";

/* RPC writes a text as UTF-16 where one character is above U+00FF, and carries 32 MiB. */

const bytes = fc.uint8Array({ maxLength: 40 });
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("=", "t", "b", "\uFEFFafter a mark", "€".repeat(2_000), "\uD800".repeat(1_500), '"'.repeat(1_500)),
);
const message = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    bytes,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.oneof(text, fc.constantFrom("1", "0", "__proto__", "json")), tie("value"), { maxKeys: 4 }),
  ),
})).value;

describe("a packet", () => {
  it("gives back every message, its texts and bytes included", () => {
    fc.assert(
      fc.property(message, (sent) => {
        expect(unpacked(structuredClone(packed(sent)))).toEqual(sent);
      }),
      { numRuns: sized(100, 5_000) },
    );
  });

  it("holds no text, and a byte for each byte of UTF-8", () => {
    const { json, parts } = packed({ text: "€".repeat(2_000), line: "é", body: new Uint8Array(7) });
    expect([json.byteLength, ...parts.map(({ byteLength }) => byteLength)]).toEqual([36, 6_000, 7]);
  });

  it("sends of a larger buffer the bytes alone", () => {
    const [part] = packed(new Uint8Array(1_000).subarray(1, 3)).parts;
    expect(part?.buffer.byteLength).toBe(2);
  });

  it("takes as many bytes as RPC, and not one more", () => {
    const around = 64 + 3; // RPC's own, and the name of the part.
    const most = new Uint8Array(mostPacketBytes - around);
    const more = new Uint8Array(mostPacketBytes - around + 1);
    expect([isTooLarge(most), isTooLarge(more)]).toEqual([false, true]);
    expect(() => packed(more)).toThrow(RangeError);
    expect(unpacked(packed(more, () => "instead"))).toBe("instead");
  });
});

describe("a packet of a guest", () => {
  const json = (value: string): Uint8Array => new TextEncoder().encode(value);
  const part = new Uint8Array(1);
  it.each<[string, unknown]>([
    ["no object", "text"],
    ["a message itself", { type: "log" }],
    ["no bytes", { json: '"=a"', parts: [] }],
    ["no list of parts", { json: json('"=a"'), parts: { length: 0 } }],
    ["a part that is a text", { json: json('"t"'), parts: ["text"] }],
    ["a part that is missing", { json: json('["t","t"]'), parts: [part] }],
    ["a hole for a part", { json: json('"b"'), parts: Array(1) }],
    ["a part that it does not name", { json: json("1"), parts: [part] }],
    [
      "more parts than a shell sends",
      { json: json('["b","b","b","b","b"]'), parts: Array.from({ length: 5 }, () => part) },
    ],
    ["a text of no kind", { json: json('"text"'), parts: [] }],
    ["an empty text", { json: json('""'), parts: [] }],
    ["no JSON", { json: json("{"), parts: [] }],
    ["nothing", { json: json(""), parts: [] }],
    ["more depth than a stack has", { json: json("[".repeat(30_000) + "]".repeat(30_000)), parts: [] }],
    ["more JSON than a shell sends", { json: json(" ".repeat(65_536) + "1"), parts: [] }],
    ["what is no UTF-8", { json: json('"t"'), parts: [Uint8Array.of(0xc0)] }],
  ])("with %s is none", (_, data) => {
    expect(unpackedOfGuest(data)).toBeUndefined();
  });

  it("never throws, for any data", () => {
    const data = fc.oneof(
      fc.anything(),
      fc.record({ json: fc.oneof(bytes, fc.json().map(json)), parts: fc.array(bytes) }),
    );
    fc.assert(
      fc.property(data, (given) => void unpackedOfGuest(given)),
      { numRuns: sized(50, 1_000) },
    );
  });
});
