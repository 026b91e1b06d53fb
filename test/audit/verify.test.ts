import { canonicalJson, hashText, type JsonValue, verifyChain } from "@keyhole/kernel";
import { lineOf, LINE_BYTES, lines, recordOf, verifyAudit } from "@keyhole/kernel/audit";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bitsAt, sampled } from "../support/sampled.ts";
import { eventsOf, linesOf, recordsOf } from "./log-of.ts";

const records = await recordsOf(20);
const written = linesOf(records);
const events = eventsOf(records);
const bytes = new TextEncoder().encode(written.map((line) => `${line}\n`).join(""));

describe("a whole log", () => {
  it.each([
    ["lines", written],
    ["events", events],
  ])("as %s", async (_, source) => {
    const check = await verifyAudit(source);
    expect(check).toMatchObject({ verdict: "unvouched", events: 20, firstSeq: 0, lastHash: records.at(-1)!.hash });
    expect(verifyChain(events)).toMatchObject({ ok: true, events: 20 });
  });

  it("in any other notation of the same JSON", async () => {
    const pretty = written.map((line) => JSON.stringify(JSON.parse(line), null, 1).replaceAll("\n", " "));
    expect(await verifyAudit(pretty)).toEqual(await verifyAudit(written));
  });

  it("from a later event on, and empty", async () => {
    expect(await verifyAudit(written.slice(7))).toMatchObject({ verdict: "broken", events: 0, seq: 0 });
    expect(await verifyAudit(written.slice(7), { part: true })).toMatchObject({
      verdict: "unvouched",
      events: 13,
      firstSeq: 7,
      root: null,
    });
    expect(await verifyAudit([])).toMatchObject({ verdict: "inconclusive", events: 0 });
  });

  it("read in pieces of any size", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3000 }), async (size) => {
        const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
          bytes.slice(i * size, (i + 1) * size),
        );
        expect(await verifyAudit(lines(pieces))).toMatchObject({ verdict: "unvouched", events: 20 });
      }),
      { numRuns: 20 },
    );
  });
});

describe("what was done to a log is found", () => {
  it("every single bit", async () => {
    const starts = [0];
    for (const [i, byte] of bytes.entries()) if (byte === 10) starts.push(i + 1);
    let survived = 0;
    for (let line = 0; line < 20; line++) {
      // The line itself, after the two before and with the one behind it: a log is verified piece by piece.
      const from = starts[Math.max(0, line - 2)]!;
      const piece = bytes.slice(from, starts[Math.min(20, line + 2)]);
      for (const place of sampled(starts[line + 1]! - starts[line]!, 3)) {
        const at = starts[line]! - from + place;
        for (const bit of bitsAt(place)) {
          piece[at]! ^= 1 << bit;
          const check = await verifyAudit(lines([piece]), { part: true });
          // A changed line end joins two lines, except the last one: there it adds a character behind a whole event.
          if (check.verdict !== "broken") survived++;
          piece[at]! ^= 1 << bit;
        }
      }
    }
    expect(survived).toBe(0);
  });

  it.each<[string, (list: readonly string[]) => readonly string[], number]>([
    ["a missing event", (list) => list.toSpliced(7, 1), 7],
    ["two events in another order", (list) => list.toSpliced(7, 2, list[8]!, list[7]!), 7],
    ["an event twice", (list) => list.toSpliced(7, 0, list[6]!), 7],
    ["the beginning again", (list) => [...list, ...list], 20],
    ["an empty line", (list) => list.toSpliced(7, 0, ""), 7],
    ["something else", (list) => list.with(7, '{"hello":"world"}'), 7],
    ["an event that names another one", (list) => list.with(7, list[7]!.replace('"seq":7', '"seq":9')), 7],
  ])("%s", async (_, change, seq) => {
    expect(await verifyAudit(change(written))).toMatchObject({ verdict: "broken", events: seq, seq });
  });

  it.each<[string, (event: Record<string, unknown>) => Record<string, unknown>, RegExp]>([
    ["of another version", (event) => ({ ...event, v: 2 }), /version 2/],
    ["of an unknown type", (event) => ({ ...event, type: "tool.forgotten" }), /no events of type/],
    ["of a type of Object.prototype", (event) => ({ ...event, type: "constructor" }), /no events of type/],
    ["from another log", (event) => ({ ...event, prev: `blake3:${"1".repeat(64)}` }), /does not follow/],
    ["with a fraction as its number", (event) => ({ ...event, seq: 7.5 }), /not a sequence number/],
  ])("an event %s, sealed again", async (_, change, reason) => {
    const { hash: __, ...body } = events[7]! as unknown as Record<string, unknown>;
    const text = canonicalJson(change(body) as JsonValue);
    const forged = lineOf({ seq: 7, body: text, hash: hashText(text) });
    const check = await verifyAudit(written.with(7, forged));
    expect(check).toMatchObject({ verdict: "broken", seq: 7, reason: expect.stringMatching(reason) });
  });

  it("a digest in another algorithm", async () => {
    const other = { ...events[7]!, hash: events[7]!.hash.replace("blake3:", "sha256:") };
    const check = await verifyAudit([...events.slice(0, 7), other]);
    expect(check).toMatchObject({ verdict: "broken", seq: 7, reason: expect.stringMatching(/algorithm/) });
  });
});

describe("input that is no log", () => {
  it.each<[string, unknown]>([
    ["null", null],
    ["a number", 1],
    ["an array", []],
    [
      "an object that throws",
      new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error("trap");
          },
        },
      ),
    ],
    [
      "a getter",
      {
        get seq() {
          return 0;
        },
      },
    ],
    ["no JSON", "{"],
    ["a lone surrogate", '"\ud800"'],
    ["depth", "[".repeat(100_000)],
  ])("%s", async (_, item) => {
    expect(await verifyAudit([item])).toMatchObject({ verdict: "broken", events: 0 });
  });

  it("a line of a gigabyte is refused before it is in memory", async () => {
    const chunk = new Uint8Array(65_536).fill(97);
    let given = 0;
    function* endless() {
      for (; given < 16_384; given++) yield chunk;
    }
    expect(await verifyAudit(lines(endless()))).toMatchObject({
      verdict: "inconclusive",
      reason: expect.stringContaining("longer"),
    });
    expect(given * chunk.length).toBeLessThanOrEqual(LINE_BYTES + 2 * chunk.length);
  });

  it("a disclosed value beyond the bound of a reader is not called a change", async () => {
    const opened = { ...events[5], openings: [{ path: "", salt: "", value: "a".repeat(LINE_BYTES + 1) }] };
    for (const item of [opened, JSON.stringify(opened)])
      expect(await verifyAudit([...written.slice(0, 5), item])).toMatchObject({ verdict: "inconclusive", events: 5 });
    const changed = written[3]!.replace('"seq":3', '"seq":4');
    expect(await verifyAudit([...written.slice(0, 3), changed, opened])).toMatchObject({ verdict: "broken" });
  });

  it("cut UTF-8, and a source that breaks", async () => {
    const cut = Uint8Array.of(...new TextEncoder().encode(`${written[0]}\n`), 0xe2, 0x82);
    expect(await verifyAudit(lines([cut]))).toMatchObject({
      verdict: "broken",
      events: 1,
      reason: expect.stringContaining("Line 2"),
    });
    async function* broken() {
      yield written[0];
      throw new Error("EIO");
    }
    expect(await verifyAudit(broken())).toMatchObject({ verdict: "broken", events: 1 });
  });
});

it("a line gives back its record, and nothing else does", () => {
  for (const [i, line] of written.entries()) expect(recordOf(line)).toEqual(records[i]);
  for (const bad of ["", "{}", '{"seq":1}', written[0]!.slice(0, -1), `${written[0]} `])
    expect(recordOf(bad)).toBeUndefined();
});
