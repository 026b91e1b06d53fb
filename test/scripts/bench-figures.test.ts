import { describe, expect, it } from "vitest";
import { compared, figuresIn } from "../../scripts/bench/figures.mjs";
import { byProcessor } from "../bench/processor.ts";

const output = (first: number, second: number): string =>
  [`BLAKE3, 1 KB    ${first} ns  ${second} MB/s (bar: 300 MB/s)`, "ratio  2.10 (bar: ≤ 1.0)"].join("\n");

describe("figures of a benchmark", () => {
  it("are read with their units, and bars are not", () => {
    expect([...figuresIn(output(1_200, 850))]).toEqual([
      ["BLAKE3, 1 KB # # [1]", { unit: "ns", value: 1_200 }],
      ["BLAKE3, 1 KB # # [2]", { unit: "MB/s", value: 850 }],
    ]);
    expect([...figuresIn("append 519,000/s memory, held 4.5 ms, 12 msgs")].map(([, { value }]) => value)).toEqual([
      519_000, 4_500_000,
    ]);
  });

  it("that became slower are worse, and so is a smaller throughput", () => {
    const rows = compared([output(100, 900)], [output(120, 600)]);
    expect(rows.map(({ unit, change }) => [unit, Number(change.toFixed(2))])).toEqual([
      ["MB/s", 0.5],
      ["ns", 0.2],
    ]);
  });

  it("are ratios, too, of times or of speeds", () => {
    const ratios = (time: number, speed: number): string =>
      `call ${time} × bare (bar: at most 1.5 ×, missed)\ncopy ${speed} × the speed of JSON.stringify (bar: at least 0.3 ×)`;
    const rows = compared([ratios(2, 0.6)], [ratios(3, 0.4)]);
    expect(rows.map(({ label, unit, change }) => [label, unit, Number(change.toFixed(2))])).toEqual([
      ["call # bare [1]", "×", 0.5],
      ["copy # of JSON.stringify [1]", "× the speed", 0.5],
    ]);
  });

  it("are the medians of their rounds", () => {
    const rows = compared(
      [100, 100, 900].map((ns) => output(ns, 1)),
      [90, 5_000, 100].map((ns) => output(ns, 1)),
    );
    expect(rows.find(({ unit }) => unit === "ns")).toMatchObject({ base: 100, head: 100, change: 0 });
  });

  it("that one version alone prints are left out, and so are those of another clock", () => {
    expect(compared(["a 1 ns"], ["b 1 ns"])).toEqual([]);
    expect(compared(["a 9 ns, 2 ×"], [`a 5 ns ${byProcessor}, 2 ×`])).toEqual([]);
  });
});
