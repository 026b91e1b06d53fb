import { type CallPort, type Isolate, type IsolateCall, IsolateFailure, type IsolateOutcome } from "@keyhole/kernel";
import { callWith, toolText } from "../../browser/open.ts";
import type { Attempt, AttemptGroup, Layer, Platform } from "./attempt.ts";
import { answer, type Bench, inTime, type Part, type Room, tagOf, using } from "./room.ts";

/** `held`, or what got out. */
export type Verdict = "held" | (string & {});

interface Trial {
  readonly bench: Bench;
  readonly room: Room;
  readonly attempt: Attempt;
}

type Judge = (trial: Trial) => Promise<Verdict>;

/** Tries it, and sees. */
export async function judge(bench: Bench, room: Room, group: AttemptGroup, attempt: Attempt): Promise<Verdict> {
  const verdict = await judges[group.layer]({ bench, room, attempt });
  if (verdict !== "held") return verdict;
  const isTold = knowAddresses.includes(group.layer);
  const hits = isTold ? await hitsOf(bench.canary, tagOf(bench.platform, attempt.id)) : [];
  if (hits.length > 0) return `the canary counted ${hits.join(", ")}`;
  return polluted() ?? "held";
}

/** Only their attempts know where the canary is. */
const knowAddresses: readonly Layer[] = ["frame", "tool", "pair", "pair of frames"];

export async function hitsOf(canary: string, tag: string): Promise<readonly string[]> {
  return (await (await fetch(`${canary}/hits/${tag}`)).json()) as string[];
}

/** What reached the canary from any attempt there, however late. */
export async function allHits(canary: string, platform: Platform): Promise<readonly string[]> {
  const hits = (await (await fetch(`${canary}/hits`)).json()) as string[];
  return hits.filter((hit) => hit.includes(`/${tagOf(platform, "")}`));
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
  guest: (trial) => judgeGuest(trial),
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

const call = (input: unknown = {}, more: Partial<IsolateCall> = {}): IsolateCall =>
  callWith(input, { outputBytes: 1_000, ...more });

function gotten(text: string): Verdict {
  return text === "nothing" || text === "refused" ? "held" : `it got ${text}`;
}

async function judgeFrame({ bench, room, attempt: { id, blocks } }: Trial): Promise<Verdict> {
  const frame = await room.inFrame("first", id);
  const mayBlock = blocks === bench.platform;
  const answered = mayBlock ? await inTime(frame.ask(), BLOCKED_MS) : await frame.ask();
  if (answered === undefined) return "held";
  const verdict = gotten(answered);
  if (verdict !== "held") return verdict;
  // A worker that hangs or ended would refuse everything.
  const isAlive = mayBlock ? await inTime(frame.isAlive(), BLOCKED_MS) : await frame.isAlive();
  return isAlive === false ? "its worker did not stay to be asked" : "held";
}

/** Nothing depends on it: what never answers has got nothing, and the canary is asked all the same. */
const BLOCKED_MS = 4_000;

/** A module that can import is not loaded. */
function refusedBefore(error: unknown): string {
  if (error instanceof IsolateFailure && /can contain an import/.test(error.message)) return "refused";
  throw error;
}

/** What a tool's body came to. Where others were before it, only an answer of its own counts; without one it is asked again in a fresh isolate. */
async function textOf(room: Room, part: Part, id: string, token?: string): Promise<string> {
  const textIn = (isFresh: boolean): Promise<string | undefined> =>
    room
      .inIsolate({ part, isFresh }, id, async (isolate, inputFor) => {
        const outcome = await inTime(isolate.call(call(inputFor(token)), listener()));
        if (outcome === undefined) return "no end";
        if (outcome.kind !== "returned") return undefined;
        return outcome.output.form === "json" ? String(JSON.parse(outcome.output.text)) : "bytes";
      })
      .catch(refusedBefore);
  const text = room.shares(part) ? await textIn(false) : undefined;
  // It has spoiled its own realm, or its own thread: that is its own business.
  return text ?? (await textIn(true)) ?? "refused";
}

async function judgeTool({ room, attempt: { id } }: Trial): Promise<Verdict> {
  return gotten(await textOf(room, "first", id));
}

async function judgePair({ room, attempt: { id } }: Trial): Promise<Verdict> {
  const left = await textOf(room, "first", id);
  return gotten(await textOf(room, "second", id, left.replace("GOT ", "")));
}

async function judgeFrames({ room, attempt: { id } }: Trial): Promise<Verdict> {
  const [first, second] = await Promise.all([room.inFrame("first", id), room.inFrame("second", id)]);
  const left = await first.ask();
  return gotten(await second.ask(left.replace("GOT ", "")));
}

async function judgeOutput({ bench, room, attempt: { id } }: Trial): Promise<Verdict> {
  const verdictIn = (isFresh: boolean): Promise<Verdict | undefined> =>
    room.inIsolate({ part: "first", isFresh }, id, async (isolate, inputFor) => {
      const heard = listener();
      const outcome = await inTime(isolate.call(call(inputFor()), heard));
      if (outcome === undefined) return "it did not end";
      if (outcome.kind === "lost") return undefined;
      return fault(outcome) ?? floodedBy(heard) ?? "held";
    });
  const verdict = (room.shares("first") ? await verdictIn(false) : undefined) ?? (await verdictIn(true)) ?? "held";
  return verdict === "held" ? answers(bench, room) : verdict;
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

/** The next call is served: in the isolate that attempts share, if it is still good, and otherwise in another one. */
async function answers(bench: Bench, room: Room | undefined): Promise<Verdict> {
  const isServed = async (isolate: Isolate): Promise<true | undefined> => {
    const outcome = await inTime(isolate.call(call({ id: answer }), listener()));
    const isAnswer = outcome?.kind === "returned" && outcome.output.form === "json";
    return isAnswer && outcome.output.text === '"an answer"' ? true : undefined;
  };
  if (room?.shares("first") && (await room.inIsolate({ part: "first", isFresh: false }, answer, isServed)))
    return "held";
  const isOther = await using(bench.open(toolText("return 'an answer'")), isServed);
  return isOther ? "held" : "the next tool was not served";
}

const spoken = `const log = { type: "log", callId, level: "info", message: "x" };
  const ask = { type: "request", callId, request: 0, kind: "fs.read", operation: "read", arguments: '{"path":"a"}' };
  const output = { form: "json", text: "1" };
  const piece = (number, more) => ({ type: "piece", callId, piece: number, bytes: new Uint8Array(1), ...more });
  const outcome = (what) => ({ type: "outcome", callId, outcome: what });
  const end = outcome({ kind: "returned", output: { form: "stream" } });
  const pull = { type: "pull", callId };`;

function judgeStreamGuest(trial: Trial): Promise<Verdict> {
  return judgeGuest(trial, { outputKind: "stream", hasBody: true });
}

async function judgeGuest(
  { bench, attempt }: Trial,
  flow: Pick<IsolateCall, "outputKind" | "hasBody"> = { outputKind: "json" },
): Promise<Verdict> {
  const { code, noticed = "lost", heard: allowed = 0 } = attempt;
  const heard = listener();
  return using(bench.usurp(`${spoken} ${code}`), async (isolate) => {
    const outcome = await inTime(isolate.call(call({}, flow), heard));
    if (outcome === undefined) return "nobody noticed";
    if (outcome.kind !== ends[noticed]) return `it ended as ${JSON.stringify(outcome).slice(0, 200)}`;
    if (noticed === "lost" && isolate.alive) return "the isolate lives on";
    if (noticed === "late" && isolate.alive) await inTime(isolate.call(call(), listener()));
    return heard.all.length === allowed ? "held" : `the host heard ${heard.all.length} messages`;
  });
}

const ends = { lost: "lost", flood: "too-large", late: "returned" } as const;

async function judgeSpin({ bench, attempt: { code } }: Trial): Promise<Verdict> {
  return using(bench.open(toolText(code)), async (spinning) => {
    const outcome = spinning.call(call(), listener());
    const meanwhile = await answers(bench, undefined);
    if (meanwhile !== "held") return meanwhile;
    spinning.terminate("deadline");
    const end = await inTime(outcome);
    return end?.kind === "lost" ? "held" : "its caller was not answered";
  });
}
