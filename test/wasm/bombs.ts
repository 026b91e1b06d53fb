import type { IsolateHost, IsolateOutcome } from "@keyhole/kernel";
import { runBody } from "./run-body.ts";

/** Programs that would not end, or take too much, by what they do; each with how its call has to end. */
export const bombs: readonly (readonly [name: string, kind: IsolateOutcome["kind"], body: string])[] = [
  ["loops", "out-of-fuel", "while (true) {}"],
  ["loops in promises", "out-of-fuel", "for (;;) await null"],
  ["chains promises for ever", "out-of-fuel", "const next = () => Promise.resolve().then(next); await next()"],
  ["calls itself in promises", "out-of-fuel", "const f = async () => { await null; return f() }; await f()"],
  ["matches in exponential time", "out-of-fuel", 'return /^(a+)+$/.test("a".repeat(40) + "!")'],
  ["matches in cubic time", "out-of-fuel", 'return /a*a*a*b/.test("a".repeat(1e5))'],
  ["replaces with a pattern that backtracks", "out-of-fuel", 'return "x".repeat(1e6).replace(/(x+x+)+y/g, "")'],
  ["sorts for ever", "out-of-fuel", "for (;;) [3, 1, 2].sort()"],
  ["generates for ever", "out-of-fuel", "for (const _ of (function* () { for (;;) yield })());"],
  ["catches everything and goes on", "out-of-fuel", "for (;;) try { for (;;); } catch {} finally {}"],
  ["catches what memory it lacks, and goes on", "out-of-fuel", "for (;;) try { new Array(1e9).fill(0) } catch {}"],
  ["catches its recursion, and goes on", "too-large", "const f = () => { try { f() } catch { f() } }; f()"],
  [
    "searches a long text for a long one",
    "out-of-fuel",
    'const a = "a".repeat(1 << 22); for (;;) a.indexOf(a.slice(9) + "b")',
  ],
  ["counts with large integers", "out-of-fuel", "let n = 3n; for (;;) n = (n * n) % (1n << 200000n)"],
  ["makes a text of a gigabyte", "out-of-memory", 'return "a".repeat(2 ** 30).length'],
  ["doubles a text", "out-of-memory", 'let a = "ab"; for (;;) a = (a + a).slice(1)'],
  ["fills a billion elements", "out-of-memory", "return new Array(1e9).fill(0).length"],
  ["allocates buffers", "out-of-memory", "const all = []; for (;;) all.push(new Uint8Array(1 << 20))"],
  ["keeps what it allocates", "out-of-memory", "const all = []; for (;;) all.push(new Float64Array(1 << 12))"],
  ["parses a long list", "out-of-fuel", 'return JSON.parse("[" + "0,".repeat(12e6) + "0]").length'],
  [
    "parses long texts",
    "out-of-memory",
    'return JSON.parse("[" + (JSON.stringify("x".repeat(1e6)) + ",").repeat(30) + "0]").length',
  ],
  ["makes a buffer of two gigabytes", "out-of-memory", "return new Uint8Array(2 ** 31).length"],
  ["recurses", "too-large", "(function f() { f(); f() })()"],
  ["recurses through a proxy", "too-large", "const p = new Proxy({}, { get: (_, k) => p[k] }); return p.x"],
  ["parses a million brackets", "too-large", 'return JSON.parse("[".repeat(1e6))'],
  ["parses a million braces", "too-large", "return JSON.parse('{\"a\":'.repeat(1e6))"],
  [
    "writes what is nested too deeply",
    "too-large",
    "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return JSON.stringify(a).length",
  ],
  ["compiles a pattern that is nested too deeply", "too-large", 'return new RegExp("(?:".repeat(1e5))'],
];

/** What a bomb cost. */
export interface BombCount {
  readonly kind: IsolateOutcome["kind"];
  readonly fuelUsed: number | undefined;
  readonly peakMemoryBytes: number | undefined;
}

export async function countBomb(host: IsolateHost, body: string): Promise<BombCount> {
  const { outcome, usage } = await runBody(host, body);
  return { kind: outcome.kind, fuelUsed: usage.fuelUsed, peakMemoryBytes: usage.peakMemoryBytes };
}
