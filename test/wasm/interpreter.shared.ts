import type { IsolateHost } from "@keyhole/kernel";
import { type Engine, interpreterHost } from "@keyhole/worker-host/wasm/interpreter";
import { beforeAll, describe, expect, it } from "vitest";
import { nodeCounts } from "virtual:bombs-on-node";
import { bombs, countBomb } from "./bombs.ts";
import { type Part, runsWhole } from "../support/part.ts";
import { callIn, FUEL, MEMORY_BYTES, openBody, type Ran, runBody, toolOfModule } from "./run-body.ts";

/** One for each way to end: by fuel in a loop and in promises, by memory, by the stack. What it costs is the same in every engine. */
const engineBombs: ReadonlySet<string> = new Set([
  "loops",
  "chains promises for ever",
  "makes a text of a gigabyte",
  "keeps what it allocates",
  "recurses",
]);

/** What is the same in every place that has WebAssembly. */
export function describeInterpreter(makeEngine: () => Promise<Engine>, { part }: { readonly part?: Part } = {}): void {
  let host: IsolateHost;
  beforeAll(async () => {
    host = interpreterHost({ engine: await makeEngine() });
  });

  const run = (body: string, more?: Parameters<typeof runBody>[2]): Promise<Ran> => runBody(host, body, more);
  const valueOf = async (expression: string): Promise<unknown> => {
    const { outcome } = await run(`return ${expression}`);
    if (outcome.kind !== "returned" || outcome.output.form !== "json") throw new Error(JSON.stringify(outcome));
    return JSON.parse(outcome.output.text);
  };

  describe("a program that would not end, or take too much", () => {
    const some = bombs.filter(([name]) => engineBombs.has(name));
    it.each(runsWhole(part) ? bombs : some)("%s: %s", async (name, kind, body) => {
      const one = await run(body);
      expect(one.outcome.kind, JSON.stringify(one)).toBe(kind);
      expect(one.usage.fuelUsed).toBeGreaterThan(0);
      expect(one.usage.peakMemoryBytes).toBeLessThanOrEqual(MEMORY_BYTES);
      if (kind === "out-of-fuel")
        expect(one).toMatchObject({ outcome: { limit: FUEL }, usage: { fuelUsed: FUEL }, alive: false });
      if (kind === "out-of-memory") expect(one.outcome).toMatchObject({ limit: MEMORY_BYTES });
      // Exactly so on Node, where these tests were served from, and again in another isolate.
      expect({ kind, ...one.usage }).toEqual(nodeCounts[name]);
      if (runsWhole(part)) expect(await countBomb(host, body)).toEqual(nodeCounts[name]);
    });

    it("leaves other isolates alone", async () => {
      const other = await openBody(host, "return 1");
      await run("while (true) {}");
      expect((await callIn(other)).outcome).toMatchObject({ kind: "returned" });
    });

    it("ends while it is loaded, with the fuel of a call", async () => {
      const small = interpreterHost({ engine: await makeEngine(), fuel: 100_000_000 });
      await expect(small.open(toolOfModule("for (;;);"))).rejects.toMatchObject({
        code: "TOOL_ERROR",
        message: expect.stringContaining("out-of-fuel"),
      });
    });
  });

  describe("fuel", () => {
    it("is what a call needs, and one less is not enough", async () => {
      const body = "let sum = 0; for (let i = 0; i < 1000; i++) sum += i; return sum";
      const { usage } = await run(body);
      expect((await run(body, { fuel: usage.fuelUsed! })).outcome.kind).toBe("returned");
      expect((await run(body, { fuel: usage.fuelUsed! - 1 })).outcome.kind).toBe("out-of-fuel");
    });

    it("of a call goes on after a request was answered", async () => {
      const body =
        "let sum = 0; for (let i = 0; i < 100; i++) sum += (await context.files.read('a')).length; return sum";
      const { outcome, usage } = await run(body);
      expect(outcome).toMatchObject({ kind: "returned", output: { text: "700" } });
      expect((await run(body, { fuel: Math.floor(usage.fuelUsed! / 2) })).outcome.kind).toBe("out-of-fuel");
    });

    it("of two calls in one isolate is counted apart", async () => {
      const isolate = await openBody(host, "for (let i = 0; i < 10; i++) await context.files.read('a'); return 1");
      const first = await callIn(isolate); // `setup` and the first use of everything.
      const [one, two] = await Promise.all([callIn(isolate), callIn(isolate)]);
      expect(first.usage.fuelUsed).toBeGreaterThan(1_000);
      expect(one.usage.fuelUsed! + two.usage.fuelUsed!).toBeLessThan(first.usage.fuelUsed! * 3);
    });
  });

  // From here on nothing depends on the engine.
  if (!runsWhole(part)) return;

  describe("the platform inside", () => {
    it.each<[string, unknown]>([
      ['new URL("../b?x=1#y", "https://Example.com:443/a/c").href', "https://example.com/b?x=1#y"],
      [
        '(() => { const u = new URL("http://a/"); u.searchParams.append("k", "ä &"); u.port = "81"; return u.href })()',
        "http://a:81/?k=%C3%A4+%26",
      ],
      [
        '[...new URLSearchParams("a=1&b=%20+&a=2").entries()]',
        [
          ["a", "1"],
          ["b", "  "],
          ["a", "2"],
        ],
      ],
      ['URL.canParse("nowhere")', false],
      ['[...new TextEncoder().encode("é\\ud800")]', [195, 169, 239, 191, 189]],
      ["new TextDecoder().decode(new Uint8Array([239, 187, 191, 104, 105]))", "hi"],
      ['new TextDecoder("latin1").decode(new Uint8Array([233]))', "é"],
      [
        '(() => { try { new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([255])) } catch (e) { return e.name } })()',
        "TypeError",
      ],
      [
        '[...new Headers({ B: "2", a: " 1 " })]',
        [
          ["a", "1"],
          ["b", "2"],
        ],
      ],
      ['(await new Response("héllo").text())', "héllo"],
      ["(await Response.json({ a: 1 }).json())", { a: 1 }],
      [
        "structuredClone({ when: new Date(5), set: new Set([1]), map: new Map([[1, { a: [1] }]]) }).map.get(1)",
        { a: [1] },
      ],
      ["(() => { try { structuredClone(() => 1) } catch (e) { return e.name } })()", "DataCloneError"],
      [
        "(() => { const c = new AbortController(); c.abort(); return [c.signal.aborted, c.signal.reason.name] })()",
        [true, "AbortError"],
      ],
      ['btoa("abc") + atob("YWJj")', "YWJjabc"],
      ["Date.now()", 1_700_000_000_000],
      ["new Date(2020, 0, 1).toString()", "Wed Jan 01 2020 00:00:00 GMT+0000 (Coordinated Universal Time)"],
      [
        "[typeof host, typeof crypto, typeof performance, typeof fetch, typeof process, typeof WebAssembly, typeof Intl]",
        Array(7).fill("undefined"),
      ],
    ])("%s", async (expression, value) => {
      expect(await valueOf(expression)).toEqual(value);
    });

    it("cannot load code from elsewhere", async () => {
      await expect(run('return await import("node:fs")')).rejects.toThrow("can contain an import");
      expect((await run("return new Function('return 1')()")).outcome).toMatchObject({ name: "EvalError" });
    });
  });
}
