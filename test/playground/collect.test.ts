import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { collect } from "../../packages/playground/src/run/collect.ts";

/** How many parts the page has held at once, beside the file. */
let most = 0;

beforeEach(() => {
  most = 0;
  const { Blob } = globalThis;
  vi.stubGlobal(
    "Blob",
    class extends Blob {
      constructor(parts: BlobPart[] = []) {
        super(parts);
        most = Math.max(most, parts.length);
      }
    },
  );
});
afterEach(() => vi.unstubAllGlobals());

describe("what a tool streams, put together as a file", () => {
  it.each([0, 1])("holds no more of the pieces than fit, also of those with %i bytes", async (byteLength) => {
    const { output, file, byteLength: received } = collect();
    const writer = output.getWriter();
    for (let i = 0; i < 40_000; i++) await writer.write(new Uint8Array(byteLength));
    expect(file().size).toBe(40_000 * byteLength);
    expect(received()).toBe(40_000 * byteLength);
    expect(most).toBeLessThan(35_000);
  });
});
