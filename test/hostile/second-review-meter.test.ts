import { meter } from "@keyhole/worker-host/wasm";
import { describe, expect, it } from "vitest";
import type { Bytes } from "../wasm/bytes.ts";
import { instantiate } from "../wasm/metered.ts";

const leb = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, ...leb(value >>> 7)]);
const section = (id: number, body: readonly number[]): number[] => [id, ...leb(body.length), ...body];
const body = (instructions: readonly number[]): number[] => {
  const whole = [0, ...instructions, 0x0b];
  return [...leb(whole.length), ...whole];
};
const times = (count: number, instructions: readonly number[]): number[] =>
  Array.from({ length: count }, () => instructions).flat();

/** `run` calls a function without calls or loops, again and again in a straight line. */
function straight(calls: number, additions: number): Bytes {
  const leaf = body([...times(additions, [0x20, 0, 0x41, 3, 0x6a, 0x21, 0]), 0x20, 0]);
  const run = body(times(calls, [0x41, 1, 0x10, 0, 0x1a]));
  const sections = [
    section(1, [2, 0x60, 1, 0x7f, 1, 0x7f, 0x60, 0, 0]),
    section(3, [2, 0, 1]),
    section(7, [1, 3, 0x72, 0x75, 0x6e, 0, 1]),
    section(10, [2, ...leaf, ...run]),
  ];
  return Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...sections.flat()]);
}

describe("a bound that a module tries to run past", () => {
  it("without loop or recursion: it ends in the first call that the fuel does not pay for", () => {
    const one = instantiate(straight(1, 10_000)).run(() => {});
    expect(one.trapped).toBe(false);
    const { exports, run } = instantiate(straight(500, 10_000));
    const fuel = 100_000;
    const { trapped, used } = run(() => exports["run"]!(), fuel);
    expect(trapped).toBe(true);
    // At most what one function has in a straight line.
    expect(used).toBeLessThan(fuel + 100_000);
  });

  it("with many tables, each within its bound", () => {
    const table = [0x70, 0, ...leb(100_000)];
    const module = Uint8Array.from([
      0,
      0x61,
      0x73,
      0x6d,
      1,
      0,
      0,
      0,
      ...section(4, [...leb(1_000), ...times(1_000, table)]),
    ]);
    expect(meter(module)).toMatchObject({ ok: false, code: "TABLE_TOO_LARGE" });
  });
});
