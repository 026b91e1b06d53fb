import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { childSpan } from "../../packages/kernel/src/id/trace.ts";
import { numberedIds, randomHex, uuidv7 } from "../../packages/kernel/src/id/uuid.ts";

describe("UUIDv7", () => {
  it("carries its time in front, version and variant in their places", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 48 - 1 }), (nowMs) => {
        const id = uuidv7(nowMs);
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16)).toBe(nowMs);
      }),
    );
  });

  it("is never the same twice, and sorts by time", () => {
    const ids = Array.from({ length: 10_000 }, () => uuidv7(1));
    expect(new Set(ids).size).toBe(ids.length);
    expect(uuidv7(2) > uuidv7(1)).toBe(true);
  });
});

describe("a numbered UUIDv7", () => {
  it("is one, carries its time in front, and sorts by number within a millisecond", () => {
    const idOf = numberedIds();
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2 ** 48 - 1 }),
        fc.integer({ min: 0, max: 2 ** 24 - 2 }),
        (nowMs, number) => {
          const id = idOf(nowMs, number);
          expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
          expect(Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16)).toBe(nowMs);
          expect(idOf(nowMs, number + 1) > id).toBe(true);
        },
      ),
    );
    expect(idOf(1, 2 ** 24)).toMatch(/-7000-8000-/);
  });

  it("is another one for each number and each source, also while the clock stands still", () => {
    const sources = Array.from({ length: 20 }, numberedIds);
    const ids = sources.flatMap((idOf) => Array.from({ length: 5_000 }, (_, number) => idOf(1, number)));
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe("random hexadecimal", () => {
  it.each([8, 16, 32, 64])("has two characters for each of %d bytes", (byteLength) => {
    const texts = Array.from({ length: 1_000 }, () => randomHex(byteLength));
    expect(texts.every((text) => text.length === 2 * byteLength && /^[0-9a-f]+$/.test(text))).toBe(true);
    expect(new Set(texts).size).toBe(texts.length);
  });
});

describe("a child span", () => {
  const trace = "0af7651916cd43dd8448eb211c80319c";
  it.each([
    ["a parent", `00-${trace}-b7ad6b7169203331-00`, true],
    ["another version", `01-${trace}-b7ad6b7169203331-01`, false],
    ["capitals", `00-${trace.toUpperCase()}-b7ad6b7169203331-01`, false],
    ["a trace of zeros", `00-${"0".repeat(32)}-b7ad6b7169203331-01`, false],
    ["a span of zeros", `00-${trace}-${"0".repeat(16)}-01`, false],
    ["something behind", `00-${trace}-b7ad6b7169203331-01-x`, false],
    ["nothing", undefined, false],
  ])("of %s", (_, parent, continues) => {
    const child = childSpan(parent);
    expect(child).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/);
    expect(child.includes(trace)).toBe(continues);
    expect(child.endsWith("-00")).toBe(continues);
  });
});
