import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { canonicalize } from "../../packages/kernel/src/index.ts";
import { sized } from "../support/size.ts";
import { hasSuites, needsSuites, readSuite } from "./suites.ts";
import { numberOf } from "./vectors.shared.ts";

interface NumberSuite {
  readonly static: readonly string[];
  readonly sha256: Readonly<Record<string, string>>;
}

const published = ["1000", "10000", "100000", "1000000"];

/** The doubles of the suite, in its order; it describes them in its `about`. */
function* doubles(fixed: readonly string[]): Generator<number> {
  for (const bits of fixed) yield numberOf(bits);
  const view = new DataView(new ArrayBuffer(8));
  for (let i = 0n; i < 2000n; i++) {
    view.setBigUint64(0, 0x0010000000000000n + i);
    yield view.getFloat64(0);
  }
  for (let block = Buffer.alloc(32); ;) {
    block = createHash("sha256").update(block).digest();
    for (let at = 0; at < 32; at += 8) {
      const value = block.readDoubleLE(at);
      if (value !== 0 && Number.isFinite(value)) yield value;
    }
  }
}

describe.skipIf(!hasSuites)(`ECMAScript number vectors ${needsSuites}`, () => {
  it("has the published digest after each power of ten lines", () => {
    const suite = JSON.parse(readSuite("jcs", "numbers.json")) as NumberSuite;
    const bits = new DataView(new ArrayBuffer(8));
    const hash = createHash("sha256");
    const digests: Record<string, string> = {};
    const last = sized(100_000, 1_000_000);
    let lines = 0;
    let text = "";
    for (const value of doubles(suite.static)) {
      bits.setFloat64(0, value);
      const result = canonicalize(value);
      text += `${bits.getBigUint64(0).toString(16)},${result.ok ? result.text : "refused"}\n`;
      lines++;
      if (lines % 1000 > 0) continue;
      hash.update(text);
      text = "";
      if (`${lines}` in suite.sha256) digests[lines] = hash.copy().digest("hex");
      if (lines === last) break;
    }
    const reached = Object.entries(suite.sha256).filter(([count]) => Number(count) <= last);
    expect(reached.map(([count]) => count)).toEqual(sized(published.slice(0, -1), published));
    expect(digests).toEqual(Object.fromEntries(reached));
  });
});
