import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { IsolateHost } from "@keyhole/kernel";
import { nodeHost } from "@keyhole/worker-host/node";
import { compileEngine, type Engine, initialFuel, interpreterHost } from "@keyhole/worker-host/wasm";
import { vmImports } from "../../../packages/worker-host/src/wasm/interpreter/imports.ts";
import { atMost } from "../bar.ts";
import { byProcessor, processorMs } from "../processor.ts";
import { callIn, openBody } from "../../wasm/run-body.ts";

const bytes = new Uint8Array(readFileSync(fileURLToPath(import.meta.resolve("quickjs-wasi/quickjs.wasm"))));

const FUEL = 2_000_000_000;

export async function measure(): Promise<void> {
  const engine = await compileEngine(bytes);
  await measureOpening(engine);
  measureMetering(engine);
  await measureWaiting("nodeHost, a thread each", nodeHost(), false);
  await measureWaiting("interpreterHost, this thread", interpreterHost({ engine }), true);
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

async function measureOpening(engine: Engine): Promise<void> {
  const host = interpreterHost({ engine });
  const opened: number[] = [];
  const answered: number[] = [];
  for (let i = 0; i < 100; i++) {
    const start = performance.now();
    const isolate = await openBody(host, "return 1");
    opened.push(performance.now() - start);
    await callIn(isolate);
    answered.push(performance.now() - start);
    isolate.terminate("measured");
  }
  const spread = (values: readonly number[]): string =>
    `median ${median(values).toFixed(2)} ms, fastest ${Math.min(...values).toFixed(2)} ms`;
  console.log(`an isolate from a warm snapshot: ${spread(opened)} ${atMost(median(opened), 2, "ms")}`);
  console.log(`its first result: ${spread(answered)}`);
}

const programs: Readonly<Record<string, string>> = {
  loop: "let s = 0; for (let i = 0; i < 400000; i++) s += i; s",
  fib: "(function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) })(20)",
  strings:
    "let t = ''; for (let i = 0; i < 40000; i++) t += String.fromCharCode(65 + i % 26); t.split('B').join('C').length",
  objects: "const m = new Map(); for (let i = 0; i < 30000; i++) m.set('k' + (i % 1000), { i }); m.size",
  json: "JSON.stringify(JSON.parse(JSON.stringify(Array.from({ length: 3000 }, (_, i) => ({ i, t: 'x' + i }))))).length",
  sort: "Array.from({ length: 20000 }, (_, i) => (i * 7919) % 20011).sort((a, b) => a - b)[0]",
};

type Exports = Record<string, (...values: number[]) => number> & { readonly memory: WebAssembly.Memory };

/** A machine that evaluates a text, metered or not. */
function machine(module: WebAssembly.Module, names?: Engine["names"]): (code: string) => void {
  const imports = vmImports({ memory: () => exports.memory, call: () => 0, interrupt: () => 0 });
  const { exports: all } = new WebAssembly.Instance(module, imports);
  const exports = all as unknown as Exports;
  const fuelGlobal = names && (all[names.fuel] as unknown as { value: bigint });
  const refuel = (): void => {
    if (fuelGlobal !== undefined) fuelGlobal.value = initialFuel(10 ** 12);
  };
  if (names !== undefined) (all[names.pages] as unknown as { value: number }).value = 16_384;
  refuel();
  exports["_initialize"]!();
  exports["qjs_init"]!();
  const write = (text: string): readonly [number, number] => {
    const encoded = new TextEncoder().encode(text);
    const at = exports["wasm_malloc"]!(encoded.length + 1);
    const memory = new Uint8Array(exports.memory.buffer);
    memory.set(encoded, at);
    memory[at + encoded.length] = 0;
    return [at, encoded.length];
  };
  const [name] = write("bench");
  return (code) => {
    refuel();
    const [at, length] = write(`{ ${code} }`);
    exports["qjs_free_value"]!(exports["qjs_eval"]!(at, length, name, 0));
    exports["wasm_free"]!(at);
  };
}

/** The fastest of rounds that take turns: what else the machine does only ever makes one slower. */
function measureMetering({ module, names }: Engine): void {
  const machines = [machine(new WebAssembly.Module(bytes)), machine(module, names)];
  let product = 1;
  for (const [name, code] of Object.entries(programs)) {
    const best = machines.map(() => Number.POSITIVE_INFINITY);
    for (let round = 0; round < 15; round++)
      for (const [i, evaluate] of machines.entries()) {
        const start = performance.now();
        evaluate(code);
        best[i] = Math.min(best[i]!, performance.now() - start);
      }
    const [plain = 1, counted = 1] = best;
    product *= counted / plain;
    const times = `${plain.toFixed(2)} ms, metered ${counted.toFixed(2)} ms`;
    console.log(`QuickJS, ${name}: ${times}, ${(counted / plain).toFixed(2)} ×`);
  }
  const mean = product ** (1 / Object.keys(programs).length);
  console.log(`metering, geometric mean ${mean.toFixed(3)} × ${atMost(mean, 1.5)}`);
}

/** A tool inside of one builtin gives no turn to others: they wait for its fuel, and the bar holds beside that (see docs/wasm-tools.md). */
const inOneBuiltin = "JSON.parse, 4 MB";

const bombs: Readonly<Record<string, string>> = {
  "while (true) {}": "while (true) {}",
  "/^(a+)+$/": '/^(a+)+$/.test("a".repeat(40) + "b")',
  "promises without end": "for (;;) await null",
  [inOneBuiltin]: 'const t = "[" + "1,".repeat(2e6) + "1]"; for (;;) JSON.parse(t)',
  "sort, 1 million": "const a = Array.from({ length: 1e6 }, (_, i) => (i * 7919) % 1000003); for (;;) a.sort()",
  '"a".repeat(2 ** 29)': 'for (;;) "a".repeat(2 ** 29)',
};

/** Milliseconds of processor time in which a tool without others beside it uses up its fuel. */
async function fuelMs(host: IsolateHost, body: string): Promise<number> {
  const figures: number[] = [];
  for (let i = 0; i < 3; i++) {
    const isolate = await openBody(host, body);
    const start = processorMs();
    await callIn(isolate, { fuel: FUEL });
    figures.push(processorMs() - start);
    isolate.terminate("measured");
  }
  return median(figures);
}

/** One tool computes until its fuel ends; another one is called again and again. */
async function measureWaiting(name: string, host: IsolateHost, sharesThread: boolean): Promise<void> {
  console.log(`# ${name}: how long another call waits while a tool uses up its fuel`);
  const other = await openBody(host, "return 1");
  for (const [label, body] of Object.entries(bombs)) {
    const ownMs = sharesThread && label === inOneBuiltin ? await fuelMs(host, body) : 0;
    const isolate = await openBody(host, body);
    await callIn(other);
    const start = performance.now();
    let over = false;
    const computing = callIn(isolate, { fuel: FUEL }).finally(() => (over = true));
    let longest = 0;
    let longestProcessorMs = 0;
    let calls = 0;
    while (!over) {
      const [asked, askedProcessorMs] = [performance.now(), processorMs()];
      await callIn(other);
      longest = Math.max(longest, performance.now() - asked);
      longestProcessorMs = Math.max(longestProcessorMs, processorMs() - askedProcessorMs);
      calls++;
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    const { outcome } = await computing;
    const took = performance.now() - start;
    const beside = `${calls} calls in ${took.toFixed(0)} ms, ${outcome.kind}`;
    const besideMs = ownMs > 0 ? Math.max(0, longestProcessorMs - ownMs) : longest;
    const own =
      ownMs > 0 ? `, ${besideMs.toFixed(1)} ms ${byProcessor} beside its fuel's own ${ownMs.toFixed(1)} ms` : "";
    console.log(
      `${name}, ${label}: another call waits ${longest.toFixed(1)} ms${own}, ${beside} ${atMost(besideMs, 50, "ms")}`,
    );
    isolate.terminate("measured");
  }
  await host.close();
}
