// Runs in the page; the figures go to the process that opened it.
import { type CallPort, createKernel, type IsolateCall, type IsolateHost } from "@keyhole/kernel";
import { browserHost, domFrameContainer } from "@keyhole/worker-host/browser";
import { bulkTransfers } from "./bulk.ts";
import echoPackage from "keyhole:./echo.ts";
import { registered } from "../../support/registered.ts";

const value = {
  text: "x".repeat(700),
  numbers: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  nested: { a: 1, b: true, c: null, d: { e: "y".repeat(200) } },
};
const inputText = JSON.stringify({ value });
const roundsPerFigure = 15;
const tripsPerRound = 300;

/** A frame and a worker like those of an isolate, with nothing but an echo in them. */
const bareScript =
  "onmessage = ({ ports: [port] }) => { postMessage('started'); port.onmessage = ({ data }) => port.postMessage(data); };";

const port: CallPort = {
  signal: new AbortController().signal,
  request: async () => ({ ok: true, value: null }),
  log: () => {},
  progress: () => {},
};

const echoTool = registered(echoPackage);

let calls = 0;
const nextCall = (): IsolateCall => ({
  callId: `call-${calls++}`,
  sessionId: "bench",
  inputText,
  outputKind: "json",
  outputBytes: 1 << 20,
  seed: "0".repeat(64),
  nowMs: 0,
  real: { clock: false, random: false },
});

const median = (figures: number[]): number => figures.toSorted((a, b) => a - b)[figures.length >> 1]!;
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function microseconds(trip: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  for (let i = 0; i < tripsPerRound; i++) await trip();
  return ((performance.now() - startMs) * 1_000) / tripsPerRound;
}

async function bareTrip(): Promise<() => Promise<unknown>> {
  const { port1, port2 } = new MessageChannel();
  const opened = await domFrameContainer({}, bareScript).open("bare", port2, "module");
  if (!opened.ok) throw new Error(opened.message);
  return () =>
    new Promise((resolve) => {
      port1.onmessage = resolve;
      port1.postMessage({ value });
    });
}

async function roundTrips(host: IsolateHost): Promise<Record<string, number>> {
  const isolate = await host.open(echoTool);
  const kernel = await createKernel({ host: await browserHost(), policy: { version: "1", posture: "permissive" } });
  kernel.register(echoPackage);
  const trips = {
    bare: await bareTrip(),
    isolate: async () => {
      const outcome = await isolate.call(nextCall(), port);
      if (outcome.kind !== "returned") throw new Error(outcome.kind);
    },
    kernel: async () => {
      const result = await kernel.call("echo", { value }, { sessionId: "bench", cache: false });
      if (!result.ok) throw new Error(result.error.message);
    },
  };
  const figures: Record<keyof typeof trips, number[]> = { bare: [], isolate: [], kernel: [] };
  for (let round = 0; round < roundsPerFigure + 3; round++) {
    for (const name of ["bare", "isolate", "kernel"] as const) {
      const figure = await microseconds(trips[name]);
      if (round >= 3) figures[name].push(figure);
    }
  }
  await kernel.close();
  return { bareUs: median(figures.bare), isolateUs: median(figures.isolate), kernelUs: median(figures.kernel) };
}

/** The median call of so many sessions that call in turn, once all have called. */
async function inTurnUs(sessions: number): Promise<number> {
  const kernel = await createKernel({ host: await browserHost(), policy: { version: "1", posture: "permissive" } });
  kernel.register(echoPackage);
  const figures: number[] = [];
  for (let call = 0; call < 256; call++) {
    const startMs = performance.now();
    const result = await kernel.call("echo", { value }, { sessionId: `${call % sessions}`, cache: false });
    if (!result.ok) throw new Error(result.error.message);
    if (call >= 128) figures.push((performance.now() - startMs) * 1_000);
  }
  await kernel.close();
  return median(figures);
}

/** From a tool that has no isolate yet to its first result. */
async function firstResultMs(host: IsolateHost): Promise<number> {
  const startMs = performance.now();
  const isolate = await host.open(echoTool);
  await isolate.call(nextCall(), port);
  const durationMs = performance.now() - startMs;
  isolate.terminate("measured");
  return durationMs;
}

/** The same of a bare frame and worker. */
async function bareFirstMs(): Promise<number> {
  const container = domFrameContainer({}, bareScript);
  const figures: number[] = [];
  for (let i = 0; i < 20; i++) {
    await sleep(200);
    const startMs = performance.now();
    const { port1, port2 } = new MessageChannel();
    const opened = await container.open(`bare-${i}`, port2, "module");
    if (!opened.ok) throw new Error(opened.message);
    await new Promise((resolve) => {
      port1.onmessage = resolve;
      port1.postMessage({ value });
    });
    figures.push(performance.now() - startMs);
    await container.close(`bare-${i}`);
  }
  return median(figures);
}

async function firstResults(warm: number): Promise<number> {
  const host = await browserHost({ warm });
  const figures: number[] = [];
  for (let i = 0; i < 20; i++) {
    await sleep(200); // The pool has its next pair ready by then.
    figures.push(await firstResultMs(host));
  }
  await host.close();
  return median(figures);
}

/** From now on, until the returned function is called: how long this thread did nothing else in one piece. */
function longestStall(): () => number {
  let longestMs = 0;
  let lastMs = performance.now();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
  }, 1);
  return () => {
    clearInterval(timer);
    return longestMs;
  };
}

async function manyAlive(count: number): Promise<Record<string, number>> {
  const host = await browserHost({ warm: 0, maxIsolates: count });
  const stall = longestStall();
  const startMs = performance.now();
  const isolates = await Promise.all(Array.from({ length: count }, () => host.open(echoTool)));
  const openedMs = performance.now() - startMs;
  const stalledMs = stall();
  const outcomes = await Promise.all(isolates.map((isolate) => isolate.call(nextCall(), port)));
  const answered = outcomes.filter(({ kind }) => kind === "returned").length;
  await host.close();
  return { openedMs, stalledMs, answered };
}

const host = await browserHost();
const trips = await roundTrips(host);
await host.close();
const inTurn = { fewInTurnUs: await inTurnUs(8), manyInTurnUs: await inTurnUs(64) };
const warmFirstMs = await firstResults(1);
const coldFirstMs = await firstResults(0);
const bareColdMs = await bareFirstMs();
const many = await manyAlive(100);
const bulk = await bulkTransfers();
Object.assign(globalThis, { figures: { ...trips, ...inTurn, warmFirstMs, coldFirstMs, bareColdMs, ...many, bulk } });
