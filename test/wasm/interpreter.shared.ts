import {
  type CallPort,
  checkPackage,
  type Isolate,
  type IsolateCall,
  type IsolateHost,
  type IsolateOutcome,
  type IsolateUsage,
  type RegisteredTool,
} from "@keyhole/kernel";
import { interpreterHost } from "@keyhole/worker-host/wasm";
import { beforeAll, describe, expect, it } from "vitest";
import subject from "../contract/tools/subject-package.ts";
import { testEngine } from "./engine.ts";

const FUEL = 1_000_000_000;

let host: IsolateHost;
let tool: RegisteredTool;
beforeAll(async () => {
  host = interpreterHost({ engine: await testEngine() });
  const checked = checkPackage(subject);
  if (!checked.ok) throw new Error(checked.error.message);
  tool = checked.value;
});

const open = (body: string): Promise<Isolate> =>
  host.open({
    ...tool,
    body: { source: "module", code: `export default { code: { async execute(input, context) { ${body} } } }` },
  });

interface Ran {
  readonly outcome: IsolateOutcome;
  readonly usage: IsolateUsage;
  readonly alive: boolean;
}

let calls = 0;

async function callIn(isolate: Isolate, more: Partial<IsolateCall> = {}): Promise<Ran> {
  let usage: IsolateUsage = {};
  const port: CallPort = {
    signal: new AbortController().signal,
    request: async () => ({ ok: true, value: null, body: new TextEncoder().encode("content") }),
    log: () => {},
    progress: () => {},
    used: (said) => (usage = said),
  };
  const call: IsolateCall = {
    callId: `call-${String(calls++).padStart(6, "0")}`,
    sessionId: "session",
    inputText: "null",
    outputKind: "json",
    outputBytes: 100_000,
    seed: "5eed".repeat(16),
    nowMs: 1_700_000_000_000,
    fuel: FUEL,
    memoryBytes: 67_108_864,
    ...more,
  };
  const outcome = await isolate.call(call, port);
  return { outcome, usage, alive: isolate.alive };
}

async function run(body: string, more?: Partial<IsolateCall>): Promise<Ran> {
  return callIn(await open(body), more);
}

async function valueOf(expression: string): Promise<unknown> {
  const { outcome } = await run(`return ${expression}`);
  if (outcome.kind !== "returned" || outcome.output.form !== "json") throw new Error(JSON.stringify(outcome));
  return JSON.parse(outcome.output.text);
}

describe("a program that would not end, or take too much", () => {
  it.each<[string, IsolateOutcome["kind"], string]>([
    ["loops", "out-of-fuel", "while (true) {}"],
    ["loops in promises", "out-of-fuel", "for (;;) await null"],
    ["matches in exponential time", "out-of-fuel", 'return /^(a+)+$/.test("a".repeat(40) + "!")'],
    ["sorts for ever", "out-of-fuel", "for (;;) [3, 1, 2].sort()"],
    ["catches everything and goes on", "out-of-fuel", "for (;;) try { for (;;); } catch {} finally {}"],
    ["makes a text of a gigabyte", "out-of-memory", 'return "a".repeat(2 ** 30).length'],
    ["doubles a text", "out-of-memory", 'let a = "ab"; for (;;) a = (a + a).slice(1)'],
    ["fills a billion elements", "out-of-memory", "return new Array(1e9).fill(0).length"],
    ["allocates buffers", "out-of-memory", "const all = []; for (;;) all.push(new Uint8Array(1 << 20))"],
    ["recurses", "too-large", "(function f() { f(); f() })()"],
    ["parses a million brackets", "too-large", 'return JSON.parse("[".repeat(1e6))'],
    [
      "writes what is nested too deeply",
      "too-large",
      "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return JSON.stringify(a).length",
    ],
  ])("%s: %s", async (_, kind, body) => {
    const one = await run(body);
    expect(one.outcome.kind, JSON.stringify(one)).toBe(kind);
    expect(one.usage.fuelUsed).toBeGreaterThan(0);
    expect(one.usage.peakMemoryBytes).toBeLessThanOrEqual(67_108_864);
    if (kind === "out-of-fuel")
      expect(one).toMatchObject({ outcome: { limit: FUEL }, usage: { fuelUsed: FUEL }, alive: false });
    if (kind === "out-of-memory") expect(one.outcome).toMatchObject({ limit: 67_108_864 });
    // Exactly so again, in another isolate.
    expect(await run(body)).toEqual(one);
  });

  it("leaves other isolates alone", async () => {
    const other = await open("return 1");
    await run("while (true) {}");
    expect((await callIn(other)).outcome).toMatchObject({ kind: "returned" });
  });

  it("ends while it is loaded", async () => {
    const code = "for (;;);";
    await expect(host.open({ ...tool, body: { source: "module", code } })).rejects.toMatchObject({
      code: "TOOL_ERROR",
    });
  }, 60_000);
});

describe("fuel", () => {
  it("is what a call needs, and one less is not enough", async () => {
    const body = "let sum = 0; for (let i = 0; i < 1000; i++) sum += i; return sum";
    const { usage } = await run(body);
    expect((await run(body, { fuel: usage.fuelUsed! })).outcome.kind).toBe("returned");
    expect((await run(body, { fuel: usage.fuelUsed! - 1 })).outcome.kind).toBe("out-of-fuel");
  });

  it("of a call goes on after a request was answered", async () => {
    const body = "let sum = 0; for (let i = 0; i < 100; i++) sum += (await context.files.read('a')).length; return sum";
    const { outcome, usage } = await run(body);
    expect(outcome).toMatchObject({ kind: "returned", output: { text: "700" } });
    expect((await run(body, { fuel: Math.floor(usage.fuelUsed! / 2) })).outcome.kind).toBe("out-of-fuel");
  });

  it("of two calls in one isolate is counted apart", async () => {
    const isolate = await open("for (let i = 0; i < 10; i++) await context.files.read('a'); return 1");
    const first = await callIn(isolate); // `setup` and the first use of everything.
    const [one, two] = await Promise.all([callIn(isolate), callIn(isolate)]);
    expect(first.usage.fuelUsed).toBeGreaterThan(1_000);
    expect(one.usage.fuelUsed! + two.usage.fuelUsed!).toBeLessThan(first.usage.fuelUsed! * 3);
  });
});

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
    expect((await run('return await import("node:fs")')).outcome.kind).toBe("threw");
    expect(await valueOf("new Function('return 1')()")).toBe(1);
  });
});
