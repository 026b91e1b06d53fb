import type { CallPort, Isolate, IsolateCall, IsolateOutcome } from "@keyhole/kernel";
import { callWith, toolText } from "../../browser/open.ts";
import type { Attempt, AttemptGroup, Layer, Platform } from "./attempt.ts";

/** What a platform brings to the battery. */
export interface Bench {
  readonly platform: Platform;
  /** Origin of the canary. */
  readonly canary: string;
  /** An isolate with this module as its tool. */
  open(code: string): Promise<Isolate>;
  /** An isolate whose guest is not the shell. `deed` is the body of an async function that has `send` and `callId`. */
  usurp(deed: string): Promise<Isolate>;
  /** A frame that knows these expressions. */
  frame?(expressions: Readonly<Record<string, string>>, tag: string): Promise<RawFrame>;
}

export interface RawFrame {
  /** `refused`, `nothing`, or `GOT` and what. */
  ask(name: string, token?: string): Promise<string>;
  close(): void;
}

/** `held`, or what got out. */
export type Verdict = "held" | (string & {});

type Judge = (bench: Bench, attempt: Attempt, tag: string) => Promise<Verdict>;

const ATTEMPT_MS = 4_000;

/** Tries it, and sees. */
export async function judge(bench: Bench, group: AttemptGroup, attempt: Attempt): Promise<Verdict> {
  const tag = `${bench.platform}-${attempt.id}`;
  const verdict = await judges[group.layer](bench, attempt, tag);
  if (verdict !== "held") return verdict;
  const hits = await hitsOf(bench.canary, tag);
  if (hits.length > 0) return `the canary counted ${hits.join(", ")}`;
  return polluted() ?? "held";
}

export async function hitsOf(canary: string, tag: string): Promise<readonly string[]> {
  return (await (await fetch(`${canary}/hits/${tag}`)).json()) as string[];
}

function polluted(): string | undefined {
  const changed = [{}, [], () => {}].find((object) => "polluted" in object || "left" in object);
  if (changed !== undefined) return "a prototype of the host changed";
  return "pwned" in globalThis ? "code ran in the host" : undefined;
}

const judges: Readonly<Record<Layer, Judge>> = {
  frame: judgeFrame,
  tool: judgeTool,
  output: judgeOutput,
  guest: (bench, attempt) => judgeGuest(bench, attempt),
  "guest of a stream": judgeStreamGuest,
  pair: judgePair,
  "pair of frames": judgeFrames,
  spin: judgeSpin,
};

interface Heard extends CallPort {
  /** Log lines, progress, requests, pieces and reads, in the order in which they came. */
  readonly all: unknown[];
}

function listener(): Heard {
  const all: unknown[] = [];
  return {
    all,
    signal: new AbortController().signal,
    log: (entry) => all.push(entry),
    progress: (progress) => all.push(progress),
    write(piece) {
      all.push(piece);
      return piece.length === 7 ? new Promise(() => {}) : Promise.resolve(true);
    },
    async read() {
      all.push("read");
      const isEnd = all.some((each) => (each as { readonly message?: unknown }).message === "end");
      return isEnd ? new Uint8Array() : all.length === 1 ? new Uint8Array(1) : new Promise(() => {});
    },
    request(request) {
      all.push(request);
      if (request.operation === "hang") return new Promise(() => {});
      return Promise.resolve({ ok: false, error: { code: "CAPABILITY_DENIED", message: "no", hint: "" } });
    },
  };
}

/** `undefined`: it did not end in time. */
async function inTime<T>(promise: Promise<T>, ms = ATTEMPT_MS): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), ms);
  return Promise.race([promise, late.promise]).finally(() => clearTimeout(timer));
}

const call = (more: Partial<IsolateCall> = {}): IsolateCall => callWith({}, { outputBytes: 1_000, ...more });

function gotten(text: string): Verdict {
  return text === "nothing" || text === "refused" ? "held" : `it got ${text}`;
}

async function judgeFrame(bench: Bench, { id, code, blocks }: Attempt, tag: string): Promise<Verdict> {
  const frame = await bench.frame?.({ [id]: code, alive: "'still here'" }, tag);
  if (frame === undefined) return "there are no frames here";
  try {
    const asked = frame.ask(id);
    const answer = blocks === bench.platform ? await inTime(asked) : await asked;
    if (answer === undefined) return "held";
    const verdict = gotten(answer);
    if (verdict !== "held") return verdict;
    // A worker that hangs or ended would refuse everything.
    return (await frame.ask("alive")) === "GOT still here" ? "held" : "its worker did not stay to be asked";
  } finally {
    frame.close();
  }
}

const asking = (body: string, at: string): string => `
  const at = (name) => ${JSON.stringify(at)} + name;
  try {
    const got = await (async function () { ${body} }).call(undefined);
    return got === undefined || got === null ? "nothing" : "GOT " + (typeof got === "string" ? got : typeof got);
  } catch { return "refused"; }`;

async function textOf(isolate: Isolate, more: Partial<IsolateCall> = {}): Promise<string> {
  const outcome = await inTime(isolate.call(call(more), listener()));
  if (outcome === undefined) return "no end";
  // It has spoiled its own realm, or its own thread: that is its own business.
  if (outcome.kind !== "returned") return "refused";
  return outcome.output.form === "json" ? String(JSON.parse(outcome.output.text)) : "bytes";
}

async function using<T>(opening: Promise<Isolate>, use: (isolate: Isolate) => Promise<T>): Promise<T> {
  const isolate = await opening;
  try {
    return await use(isolate);
  } finally {
    isolate.terminate("the attempt is over");
  }
}

async function judgeTool(bench: Bench, { code }: Attempt, tag: string): Promise<Verdict> {
  const text = asking(code, `${bench.canary}/${tag}/`);
  return gotten(await using(bench.open(toolText(text)), (isolate) => textOf(isolate)));
}

async function judgePair(bench: Bench, { code, second = "" }: Attempt, tag: string): Promise<Verdict> {
  const module = (body: string): string => toolText(asking(body, `${bench.canary}/${tag}/`), "let kept;");
  return using(bench.open(module(code)), async (first) => {
    const left = await textOf(first);
    const token = `const token = ${JSON.stringify(left.replace("GOT ", ""))};`;
    return gotten(await using(bench.open(module(token + second)), (other) => textOf(other)));
  });
}

async function judgeFrames(bench: Bench, { code, second = "" }: Attempt, tag: string): Promise<Verdict> {
  const [first, other] = await Promise.all([bench.frame?.({ code }, tag), bench.frame?.({ second }, tag)]);
  if (first === undefined || other === undefined) return "there are no frames here";
  try {
    return gotten(await other.ask("second", (await first.ask("code")).replace("GOT ", "")));
  } finally {
    first.close();
    other.close();
  }
}

async function judgeOutput(bench: Bench, { code }: Attempt): Promise<Verdict> {
  const heard = listener();
  const outcome = await using(bench.open(toolText(code)), (isolate) => inTime(isolate.call(call(), heard)));
  if (outcome === undefined) return "it did not end";
  return fault(outcome) ?? floodedBy(heard) ?? (await answers(bench));
}

function fault(outcome: IsolateOutcome): string | undefined {
  if (outcome.kind === "threw" && outcome.message.length + outcome.name.length > 2_100) return "an error without bound";
  if (outcome.kind !== "returned") return undefined;
  const { output } = outcome;
  if (output.form !== "json") return "an output of another form";
  if (output.text.length > 1_000) return "an output without bound";
  JSON.parse(output.text);
  return undefined;
}

function floodedBy({ all }: Heard): string | undefined {
  if (all.length > 1_000) return `${all.length} messages`;
  return all.some((each) => JSON.stringify(each).length > 2_100) ? "a message without bound" : undefined;
}

async function answers(bench: Bench): Promise<Verdict> {
  const text = await using(bench.open(toolText("return 'GOT an answer'")), (isolate) => textOf(isolate));
  return text === "GOT an answer" ? "held" : "the next tool was not served";
}

const spoken = `const log = { type: "log", callId, level: "info", message: "x" };
  const ask = { type: "request", callId, request: 0, kind: "fs.read", operation: "read", arguments: '{"path":"a"}' };
  const output = { form: "json", text: "1" };
  const piece = (number, more) => ({ type: "piece", callId, piece: number, bytes: new Uint8Array(1), ...more });
  const outcome = (what) => ({ type: "outcome", callId, outcome: what });
  const end = outcome({ kind: "returned", output: { form: "stream" } });
  const pull = { type: "pull", callId };`;

function judgeStreamGuest(bench: Bench, attempt: Attempt): Promise<Verdict> {
  return judgeGuest(bench, attempt, { outputKind: "stream", hasBody: true });
}

async function judgeGuest(
  bench: Bench,
  attempt: Attempt,
  flow: Pick<IsolateCall, "outputKind" | "hasBody"> = { outputKind: "json" },
): Promise<Verdict> {
  const { code, noticed = "lost", heard: allowed = 0 } = attempt;
  const heard = listener();
  return using(bench.usurp(`${spoken} ${code}`), async (isolate) => {
    const outcome = await inTime(isolate.call(call(flow), heard));
    if (outcome === undefined) return "nobody noticed";
    if (outcome.kind !== ends[noticed]) return `it ended as ${JSON.stringify(outcome).slice(0, 200)}`;
    if (noticed === "lost" && isolate.alive) return "the isolate lives on";
    if (noticed === "late" && isolate.alive) await inTime(isolate.call(call(), listener()), 500);
    return heard.all.length === allowed ? "held" : `the host heard ${heard.all.length} messages`;
  });
}

const ends = { lost: "lost", flood: "too-large", late: "returned" } as const;

async function judgeSpin(bench: Bench, { code }: Attempt): Promise<Verdict> {
  return using(bench.open(toolText(code)), async (spinning) => {
    const outcome = spinning.call(call(), listener());
    const meanwhile = await answers(bench);
    if (meanwhile !== "held") return meanwhile;
    spinning.terminate("deadline");
    const end = await inTime(outcome, 1_000);
    return end?.kind === "lost" ? "held" : "its caller was not answered";
  });
}
