import { meter, type MeterOptions, type MeterCode } from "@keyhole/worker-host/wasm";
import { describe, expect, it } from "vitest";
import type { Bytes } from "../wasm/bytes.ts";
import { instantiate, LARGE, metered } from "../wasm/metered.ts";
import { programs } from "../wasm/programs.ts";

const i32 = 0x7f;
const leb = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, ...leb(value >>> 7)]);
/** LEB128 of a number that is not negative, signed. */
const signed = (value: number): number[] => (value < 64 ? [value] : [(value & 127) | 128, ...signed(value >>> 7)]);
const text = (name: string): number[] => [...leb(name.length), ...new TextEncoder().encode(name)];
const section = (id: number, ...body: number[]): number[] => [id, ...leb(body.length), ...body];
const wasm = (...sections: number[][]): Bytes => Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...sections.flat()]);
const nothing = section(1, 1, 0x60, 0, 0);
const oneFunction = section(3, 1, 0);
const body = (...instructions: number[]): number[] => [...leb(instructions.length + 1), 0, ...instructions];
const exported = (name: string): number[] => section(7, 1, ...text(name), 0, 0);
/** `() -> ()`, exported as `run`. */
const program = (...instructions: number[]): Bytes =>
  wasm(nothing, oneFunction, exported("run"), section(10, 1, ...body(...instructions, 0x0b)));

/** `run` calls a function without calls or loops, again and again in a straight line. */
function straight(calls: number, additions: number): Bytes {
  const whole = (instructions: readonly number[]): number[] => [
    ...leb(instructions.length + 2),
    0,
    ...instructions,
    0x0b,
  ];
  const times = (count: number, instructions: readonly number[]): number[] =>
    Array.from({ length: count }, () => instructions).flat();
  const leaf = whole([...times(additions, [0x20, 0, 0x41, 3, 0x6a, 0x21, 0]), 0x20, 0]);
  const run = whole(times(calls, [0x41, 1, 0x10, 0, 0x1a]));
  const code = [2, ...leaf, ...run];
  return wasm(
    section(1, 2, 0x60, 1, i32, 1, i32, 0x60, 0, 0),
    section(3, 2, 0, 1),
    section(7, 1, ...text("run"), 0, 1),
    [10, ...leb(code.length), ...code],
  );
}

function refusal(bytes: Bytes, options?: MeterOptions): { code: MeterCode; message: string } {
  const result = meter(bytes, options);
  if (result.ok) throw new Error("it was metered");
  return result;
}

describe("a hostile module is refused, with a code", () => {
  it.each<[string, MeterCode, Bytes]>([
    ["nothing", "INVALID_MODULE", Uint8Array.from([])],
    ["text", "INVALID_MODULE", new TextEncoder().encode("(module)")],
    ["a component", "INVALID_MODULE", Uint8Array.from([0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0])],
    ["a body that is cut", "INVALID_MODULE", programs[0]!.bytes.slice(0, -1)],
    ["a global that only metering adds", "INVALID_MODULE", program(0x23, 0, 0x1a)],
    ["shared memory", "UNSUPPORTED_THREADS", wasm(section(5, 1, 3, 1, 1))],
    ["64-bit memory", "UNSUPPORTED_MEMORY64", wasm(section(5, 1, 4, 1))],
    ["a structure", "UNSUPPORTED_GC", wasm(section(1, 1, 0x5f, 0))],
    ["a recursive type", "UNSUPPORTED_GC", wasm(section(1, 1, 0x4e, 1, 0x5f, 0))],
    ["two memories", "UNSUPPORTED_MULTI_MEMORY", wasm(section(5, 2, 0, 1, 0, 1))],
    ["a memory that begins too large", "MEMORY_TOO_LARGE", wasm(section(5, 1, 0, ...leb(1_025)))],
    [
      "an imported memory that begins too large",
      "MEMORY_TOO_LARGE",
      wasm(section(2, 1, ...text("a"), ...text("b"), 2, 0, ...leb(1_025))),
    ],
    ["a table that begins too large", "TABLE_TOO_LARGE", wasm(section(4, 1, 0x70, 0, ...leb(100_001)))],
    [
      "an imported table that begins too large",
      "TABLE_TOO_LARGE",
      wasm(section(2, 1, ...text("a"), ...text("b"), 1, 0x70, 0, ...leb(100_001))),
    ],
    ["too many locals", "TOO_MANY_LOCALS", wasm(nothing, oneFunction, section(10, 1, 5, 1, ...leb(1_001), i32, 0x0b))],
    ["what was metered already", "ALREADY_METERED", metered(programs[0]!.bytes).bytes],
    ["what says that it was", "ALREADY_METERED", wasm(section(0, ...text("keyhole.meter")))],
  ])("%s: %s", (_, code, bytes) => expect(refusal(bytes).code).toBe(code));

  it("relaxed vectors, whose results differ between machines", () => {
    // i8x16.relaxed_swizzle of two zeros, dropped.
    const zero = [0xfd, 12, ...Array<number>(16).fill(0)];
    expect(refusal(program(...zero, ...zero, 0xfd, ...leb(256), 0x1a)).code).toBe("UNSUPPORTED_RELAXED_SIMD");
  });

  it("atomics, even without shared memory", () => {
    expect(refusal(program(0xfe, 3, 0)).code).toBe("UNSUPPORTED_THREADS");
  });

  it("imports that the host does not offer, by name", () => {
    const bytes = wasm(nothing, section(2, 1, ...text("env"), ...text("system"), 0, 0));
    const supportsImport = (): boolean => false;
    expect(refusal(bytes, { supportsImport })).toMatchObject({
      code: "UNKNOWN_IMPORT",
      message: 'The module imports the function "env" "system", which this host does not offer.',
    });
  });

  it("imports from a name that a byte order mark sets apart from one that is offered", () => {
    const marked = (name: string): number[] => [
      ...leb(name.length + 3),
      0xef,
      0xbb,
      0xbf,
      ...new TextEncoder().encode(name),
    ];
    const supportsImport = ({ module, name }: { readonly module: string; readonly name: string }): boolean =>
      module === "env" && name === "system";
    for (const names of [
      [...marked("env"), ...text("system")],
      [...text("env"), ...marked("system")],
    ])
      expect(refusal(wasm(nothing, section(2, 1, ...names, 0, 0)), { supportsImport }).code).toBe("UNKNOWN_IMPORT");
  });

  it("many tables, each within its bound", () => {
    const tables = Array.from({ length: 1_000 }, () => [0x70, 0, ...leb(100_000)]).flat();
    expect(refusal(wasm(section(4, ...leb(1_000), ...tables))).code).toBe("TABLE_TOO_LARGE");
  });

  it("100 MB, before it is looked at", () => {
    expect(refusal(new Uint8Array(100 << 20)).code).toBe("MODULE_TOO_LARGE");
    expect(refusal(programs[0]!.bytes, { moduleBytes: programs[0]!.bytes.length - 1 }).code).toBe("MODULE_TOO_LARGE");
    expect(meter(programs[0]!.bytes, { moduleBytes: programs[0]!.bytes.length }).ok).toBe(true);
  });

  it("a function that metering makes too large", () => {
    const bytes = program(...Array.from({ length: 1_000 }, () => [0x41, 1, 0x04, 0x40, 0x0b]).flat());
    expect(refusal(bytes, { functionBytes: 8_000 }).code).toBe("FUNCTION_TOO_LARGE");
    expect(meter(bytes).ok).toBe(true);
  });
});

describe("a hostile module that is metered", () => {
  it("cannot run without fuel", () => {
    const { exports, run } = instantiate(program(0x03, 0x40, 0x0c, 0, 0x0b));
    expect(run(() => exports["run"]!(), 0)).toMatchObject({ trapped: true, fuelState: { state: "out-of-fuel" } });
    expect(run(() => exports["run"]!(), 1_000_000)).toMatchObject({
      trapped: true,
      fuelState: { state: "out-of-fuel" },
    });
  });

  it("ends at the first call that it cannot pay for, without a loop or recursion", () => {
    const one = instantiate(straight(1, 10_000)).run(() => {});
    expect(one.trapped).toBe(false);
    const { exports, run } = instantiate(straight(500, 10_000));
    const fuel = 100_000;
    const { trapped, used } = run(() => exports["run"]!(), fuel);
    expect(trapped).toBe(true);
    // At most what one function has in a straight line.
    expect(used).toBeLessThan(fuel + 100_000);
  });

  it("does not run its start function before there is fuel", () => {
    const spin = body(0x03, 0x40, 0x0c, 0, 0x0b, 0x0b);
    const bytes = wasm(nothing, oneFunction, section(8, 0), section(10, 1, ...spin));
    const { exports, run, report } = instantiate(bytes);
    expect(report.exports.start).toBe("keyhole.start");
    expect(run(() => exports["keyhole.start"]!(), 1_000)).toMatchObject({ fuelState: { state: "out-of-fuel" } });
  });

  it("that recurses ends too deep, at the same depth each time", () => {
    const { exports, run } = instantiate(program(0x10, 0));
    const one = run(() => exports["run"]!());
    expect(one).toMatchObject({ trapped: true, fuelState: { state: "too-deep" } });
    expect(run(() => exports["run"]!())).toEqual(one);
    // Two fuel and 64 estimated bytes an activation.
    expect(run(() => exports["run"]!(), LARGE, 6_400).used).toBe(2 * 101);
  });

  it("that calls itself at its end ends out of fuel: the frame was given back", () => {
    const { exports, run } = instantiate(program(0x12, 0));
    expect(run(() => exports["run"]!(), 10_000_000)).toMatchObject({
      trapped: true,
      fuelState: { state: "out-of-fuel" },
    });
  });

  it("nests as deeply as its frames allow, and the estimate holds on this engine", () => {
    // 999 locals, all live across the call: 8 KB an activation.
    const locals = [1, ...leb(999), 0x7e];
    const code = [...locals, 0x10, 0, ...Array.from({ length: 999 }, (_, i) => [0x20, ...leb(i), 0x1a]).flat(), 0x0b];
    const bytes = wasm(nothing, oneFunction, exported("run"), section(10, 1, ...leb(code.length), ...code));
    const { exports, run } = instantiate(bytes);
    expect(run(() => exports["run"]!())).toMatchObject({ trapped: true, fuelState: { state: "too-deep" } });
  });

  it("cannot grow its memory beyond the bound, whatever it declared", () => {
    const unary = section(1, 1, 0x60, 1, i32, 1, i32);
    const grow = section(10, 1, ...body(0x20, 0, 0x40, 0, 0x0b));
    const bytes = wasm(unary, oneFunction, section(5, 1, 1, 1, ...leb(65_536)), exported("run"), grow);
    const { exports, run } = instantiate(bytes, { memoryBytes: 10 * 65_536 });
    expect(run(() => exports["run"]!(9))).toMatchObject({ value: 1, used: 3 + 9 });
    expect(exports["keyhole.refused"]).toMatchObject({ value: 0 });
    expect(run(() => exports["run"]!(1))).toMatchObject({ value: -1, used: 3 });
    expect(exports["keyhole.refused"]).toMatchObject({ value: 1 });
    // The bound of one run may be lower than what the module was metered for.
    const other = instantiate(bytes, { memoryBytes: 10 * 65_536 });
    (other.exports["keyhole.pages"] as unknown as { value: number }).value = 4;
    expect(other.run(() => other.exports["run"]!(4)).value).toBe(-1);
    expect(other.run(() => other.exports["run"]!(3)).value).toBe(1);
    expect(other.run(() => other.exports["run"]!(-1)).value).toBe(-1);
  });

  it("pays for bulk operations before they run", () => {
    const fill = [0x41, 0, 0x41, 0, 0x20, 0, 0xfc, 11, 0];
    const bytes = wasm(
      section(1, 1, 0x60, 1, i32, 0),
      oneFunction,
      section(5, 1, 0, 1),
      exported("run"),
      section(10, 1, ...body(...fill, 0x0b)),
    );
    const { exports, run } = instantiate(bytes);
    expect(run(() => exports["run"]!(65_536)).used).toBe(5 + 65_536);
    expect(run(() => exports["run"]!(65_536), 65_540)).toMatchObject({
      trapped: true,
      fuelState: { state: "out-of-fuel" },
    });
    // 4 GiB, unsigned.
    expect(run(() => exports["run"]!(-1), 1_000)).toMatchObject({ trapped: true, fuelState: { state: "out-of-fuel" } });
  });

  it("keeps exports of the same names, and its fuel global is another", () => {
    const globals = section(6, 1, 0x7e, 1, 0x42, 5, 0x0b);
    const taken = section(7, 2, ...text("keyhole.fuel"), 3, 0, ...text("run"), 0, 0);
    const spin = section(10, 1, ...body(0x03, 0x40, 0x42, 0x7f, 0x24, 0, 0x0c, 0, 0x0b, 0x0b));
    const { exports, run, report } = instantiate(wasm(nothing, oneFunction, globals, taken, spin));
    expect(report.exports.fuel).toBe("keyhole.fuel'");
    expect(run(() => exports["run"]!(), 1_000)).toMatchObject({ trapped: true, fuelState: { state: "out-of-fuel" } });
    expect(exports["keyhole.fuel"]).toMatchObject({ value: -1n });
  });

  it("may nest blocks 20,000 deep", () => {
    const depth = 20_000;
    const bytes = program(
      ...Array.from({ length: depth }, () => [0x02, 0x40]).flat(),
      ...Array<number>(depth).fill(0x0b),
    );
    const { exports, run } = instantiate(bytes);
    expect(run(() => exports["run"]!())).toMatchObject({ trapped: false, used: 1 });
  });

  it("cannot catch the end of its fuel", () => {
    // try_table (catch_all 0) around an endless loop.
    const caught = program(0x02, 0x40, 0x1f, 0x40, 1, 2, 0, 0x03, 0x40, 0x0c, 0, 0x0b, 0x0b, 0x0b);
    const { exports, run } = instantiate(caught);
    expect(run(() => exports["run"]!(), 1_000)).toMatchObject({ trapped: true, fuelState: { state: "out-of-fuel" } });
  });

  it.each([
    ["an access out of bounds", [0x41, 0x7f, 0x28, 2, 0, 0x1a]],
    ["a division by zero", [0x41, 1, 0x41, 0, 0x6d, 0x1a]],
    ["an unreachable place", [0x00]],
    ["a fill out of bounds", [0x41, 0, 0x41, 0, 0x41, ...signed(100_000), 0xfc, 11, 0]],
  ])("cannot hide what it has used behind %s", (_, trap) => {
    const turns = 1_000_000;
    // i = i + 1, again while i < turns: seven instructions.
    const spin = [0x03, 0x40, 0x20, 0, 0x41, 1, 0x6a, 0x22, 0, 0x41, ...signed(turns), 0x48, 0x0d, 0, 0x0b];
    const code = [1, 1, i32, ...spin, ...trap, 0x0b];
    const bytes = wasm(
      nothing,
      oneFunction,
      section(5, 1, 0, 1),
      exported("run"),
      section(10, 1, ...leb(code.length), ...code),
    );
    const { exports, run } = instantiate(bytes);
    const { trapped, used, fuelState } = run(() => exports["run"]!());
    expect({ trapped, state: fuelState.state }).toEqual({ trapped: true, state: "running" });
    expect(used).toBeGreaterThanOrEqual(7 * turns);
    expect(used).toBeLessThanOrEqual(7 * turns + 10 + 100_000);
  });
});
