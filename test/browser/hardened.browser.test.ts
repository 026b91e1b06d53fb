import type { IsolateHost } from "@keyhole/kernel";
import { browserHost } from "@keyhole/worker-host/browser";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callWith, evaluate, moduleOf, quietPort, toolText } from "./open.ts";

let host: IsolateHost;
beforeAll(async () => {
  host = await browserHost();
});
afterAll(() => host.close());

/** Each expression with its value. One isolate has them all: to start one costs a browser more than to evaluate them. */
function eachValue(rows: readonly [expression: string, expected: unknown][]): void {
  let values: readonly unknown[] = [];
  beforeAll(async () => {
    const each = rows.map(([expression]) => `attempt(() => (${expression}))`);
    const attempt = "const attempt = (of) => { try { return of(); } catch (error) { return `threw ${error}`; } };";
    values = (await evaluate(host, `return [${each.join(", ")}]`, {}, attempt)) as readonly unknown[];
  });

  it.each(rows.map((row, at) => [...row, at] as const))("%s", (_, expected, at) => {
    expect(values[at]).toEqual(expected);
  });
}

describe("time in a hardened realm", () => {
  it("is not that of the page, which is far from UTC", () => {
    expect(new Date(2020, 6, 1).getTimezoneOffset()).toBe(240);
  });

  eachValue([
    ["Date.now()", Date.UTC(2026, 0, 2, 3, 4, 5, 678)],
    ["new Date().toISOString()", "2026-01-02T03:04:05.678Z"],
    ["Date()", "Fri Jan 02 2026 03:04:05 GMT+0000 (Coordinated Universal Time)"],
    ["new Date().toString()", "Fri Jan 02 2026 03:04:05 GMT+0000 (Coordinated Universal Time)"],
    ["new Date(Number.NaN).toString()", "Invalid Date"],
    ["new Date(-62198755200000).toDateString()", "Fri Jan 01 -001".replace("-001", "-0001")],
    ["new Date(2020, 6, 1, 5).toISOString()", "2020-07-01T05:00:00.000Z"],
    ["new Date(99, 0).getFullYear()", 1999],
    ["new Date('2020-07-01T05:00').toISOString()", "2020-07-01T05:00:00.000Z"],
    ["new Date('2020-07-01').toISOString()", "2020-07-01T00:00:00.000Z"],
    ["new Date('2020-07-01T05:00+02:00').toISOString()", "2020-07-01T03:00:00.000Z"],
    ["new Date('Jul 1, 2020 05:00').toISOString()", "2020-07-01T05:00:00.000Z"],
    ["new Date('Wed, 01 Jul 2020 05:00:00 GMT').toISOString()", "2020-07-01T05:00:00.000Z"],
    ["Date.parse('2020-07-01T05:00:00')", Date.UTC(2020, 6, 1, 5)],
    ["new Date(new Date(7)).getTime()", 7],
    ["new Date({ valueOf: () => 7 }).getTime()", 7],
    ["new Date(true).getTime()", 1],
    ["[new Date(2020, 6, 1).getHours(), new Date(2020, 6, 1).getTimezoneOffset()]", [0, 0]],
    ["(() => { const d = new Date(0); d.setHours(5); return d.toISOString(); })()", "1970-01-01T05:00:00.000Z"],
    ["new (class Mine extends Date {})(7) instanceof Date", true],
    ["Date.length", 7],
    ["Date.name", "Date"],
    ["new Event('x').timeStamp", 0],
    ["typeof performance", "undefined"],
  ]);

  it("is the call's, call by call", async () => {
    const isolate = await host.open(moduleOf(toolText("return [Date.now(), context.now()]")));
    for (const nowMs of [1, 1_000_000]) {
      expect(await isolate.call(callWith({}, { nowMs }), quietPort)).toMatchObject({
        output: { text: `[${nowMs},${nowMs}]` },
      });
    }
    isolate.terminate("the test is over");
  });

  it("is the real one where that was granted", async () => {
    const before = Date.now();
    const now = (await evaluate(host, "return context.now()", { real: { clock: true, random: false } })) as number;
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
  });

  it("is the epoch while a module loads", async () => {
    expect(await evaluate(host, "return loaded", {}, "const loaded = Date.now();")).toBe(0);
  });
});

describe("chance in a hardened realm", () => {
  it("comes from the seed, in Math as in the context", async () => {
    const body = "return [Math.random(), context.random(), Math.random()]";
    const one = await evaluate(host, body);
    expect(await evaluate(host, body)).toEqual(one);
    expect(await evaluate(host, body, { seed: "f".repeat(64) })).not.toEqual(one);
    expect(new Set(one as number[]).size).toBe(3);
  });

  it("is real where that was granted", async () => {
    const body = "return [context.random(), context.random()]";
    const real = { clock: false, random: true };
    expect(await evaluate(host, body, { real })).not.toEqual(await evaluate(host, body, { real }));
  });
});

describe("what stays in a hardened realm", () => {
  it("does its work: text, URLs, streams, responses, WebAssembly", async () => {
    const body = `
      const response = new Response(new TextEncoder().encode("héllo"), { headers: { "x-a": "b" } });
      const memory = new WebAssembly.Memory({ initial: 1 });
      const stream = new Response("streamed").body.pipeThrough(new TextDecoderStream());
      let streamed = "";
      for await (const piece of stream) streamed += piece;
      return [await response.text(), response.headers.get("x-a"), new URL("../b", "https://a.example/c/d").href, memory.buffer.byteLength,
        streamed, structuredClone({ a: 1 }), atob(btoa("x"))];`;
    expect(await evaluate(host, body)).toEqual(["héllo", "b", "https://a.example/b", 65536, "streamed", { a: 1 }, "x"]);
  });

  it("says of an error what it is", async () => {
    expect(
      await evaluate(host, `return [String(new TypeError("x")), String(new DOMException("x", "AbortError"))];`),
    ).toEqual(["TypeError: x", "AbortError: x"]);
  });

  it("sends the console to the call's log", async () => {
    const isolate = await host.open(moduleOf(toolText("console.log('a', 1); console.error('b'); return null")));
    const logs: unknown[] = [];
    await isolate.call(callWith(), { ...quietPort, log: (entry) => logs.push(entry) });
    expect(logs).toEqual([
      { level: "info", message: "a 1" },
      { level: "error", message: "b" },
    ]);
    isolate.terminate("the test is over");
  });
});
