import { knownOptions } from "../json/known-options.ts";
import { Deadline } from "../bounds/deadline.ts";
import { openWithin } from "../isolate/open-within.ts";
import { readVersionedId } from "../support/tool-names.ts";
import { hasOwn, present } from "../support/guards.ts";
import type { CapabilityReply } from "../capability/request.ts";
import type { Clock } from "../isolate/clock.ts";
import { allLogical, type CallPort, type Isolate, type IsolateHost, type IsolateOutcome } from "../isolate/port.ts";
import { readRequest } from "../isolate/reading.ts";
import { OutputStream } from "../hash/output-stream.ts";
import { blake3Hash } from "../hash/blake3-hash.ts";
import type { Hash } from "../hash/hash.ts";
import { hashOf } from "../hash/hash-by-algorithm.ts";
import { isJsonObject, type JsonObject } from "../json/json.ts";
import { parseJson } from "../json/snapshot.ts";
import type { RegisteredTool } from "../tool/package.ts";
import { withProgram } from "../tool/program.ts";
import { decodeBase64 } from "../bytes/base64.ts";
import { type Difference, firstDifference } from "./difference.ts";
import { bodyRead, outcomeParts, requestParts } from "./record.ts";
import { type Run, type RunEntry, runFault } from "./run.ts";
import { serializeReplies } from "./serialize-replies.ts";

type RecordedCall = Extract<RunEntry, { kind: "call" }>;

/** Where a replay first did something else than the run. */
export interface Divergence {
  readonly callId: string;
  /** Place of the entry in the run, from 0. */
  readonly seq: number;
  readonly expectedHash: string;
  readonly actualHash: string;
  /** The first place at which the request, or what the tool gave, is another one. Absent where the tool did more, less, or did not end. */
  readonly difference?: Difference;
  /** For people. */
  readonly reason: string;
}

export interface ReplayOptions {
  /** Where the tools run. Its brokers are not used: nothing leaves the machine. */
  readonly host: IsolateHost;
  /** The tools of the run, as `checkPackage` gives them. One with another hash is another tool. */
  readonly tools: readonly RegisteredTool[];
  readonly clock: Clock;
  /**
   * Tools that replace the run's tools of their names, in any version and with any hash. They run
   * with the recorded inputs and answers. Default: none; each call runs on its recorded tool.
   */
  readonly instead?: readonly RegisteredTool[];
  /** For each call. Default 10,000. */
  readonly timeoutMs?: number;
}

export type Replay =
  | { readonly ok: true; readonly calls: number }
  | { readonly ok: false; readonly kind: "refused"; readonly callId: string; readonly reason: string }
  | { readonly ok: false; readonly kind: "diverged"; readonly divergence: Divergence };

/**
 * Executes a run again from its journal: same inputs, same clock, same seed, and every capability request answered with what was answered then, in the
 * order of then. The replay refuses a run before it executes any code: a call whose tool is not there in the same version, or that saw the real clock or
 * real randomness, or that has no end.
 *
 * @example
 * const replayed = await replay(run, { host, tools, clock: systemClock });
 * if (!replayed.ok && replayed.kind === "diverged") console.log(replayed.divergence);
 */
export async function replay({ entries }: Run, given: ReplayOptions): Promise<Replay> {
  const options = knownOptions(given, { host: true, tools: true, clock: true, instead: true, timeoutMs: 1 }, "replay");
  const fault = runFault({ entries });
  if (fault) return { ok: false, kind: "refused", callId: fault.callId, reason: fault.reason };
  const calls: Playable[] = [];
  for (const [seq, call] of entries.entries()) {
    if (call.kind !== "call") continue;
    const tool = toolFor(call, options);
    if (typeof tool === "string") return { ok: false, kind: "refused", callId: call.callId, reason: tool };
    calls.push({ call, seq, tool });
  }
  for (const call of calls) {
    const divergence = await replayCall(call, entries, options);
    if (divergence) return { ok: false, kind: "diverged", divergence };
  }
  return { ok: true, calls: calls.length };
}

/** One run of a tool, with what it runs on. */
interface Playable {
  readonly call: RecordedCall;
  /** Of its beginning. */
  readonly seq: number;
  readonly tool: RegisteredTool;
}

/**
 * The recorded tool, or its stand-in, built from its package and, where it had one, the program of
 * the input. Returns a sentence when there is neither.
 */
function toolFor(call: RecordedCall, { tools, host, instead = [] }: ReplayOptions): RegisteredTool | string {
  const packageHash = call.packageHash ?? call.toolHash;
  const changed = instead.find(({ manifest }) => manifest.name === readVersionedId(call.tool).name);
  const found = changed ?? tools.find(({ hash }) => hash === packageHash);
  if (!found)
    return `${call.tool} with hash ${packageHash} is not among the tools. A changed one can stand in for it: \`instead\`.`;
  const tool = call.packageHash === undefined ? found : composed(found, call);
  if (!tool || (!changed && tool.hash !== call.toolHash))
    return `The package ${found.hash} and the program in the input do not make what ran, ${call.toolHash}.`;
  if (!host.sources.includes(tool.manifest.source))
    return `The host does not run tools of source ${tool.manifest.source}.`;
  return call.real.length > 0
    ? `The tool saw the real ${call.real.join(" and ")}, which no journal can give again.`
    : tool;
}

function composed(found: RegisteredTool, { inputText, toolHash }: RecordedCall): RegisteredTool | undefined {
  const input = parseJson(inputText);
  const isProgram = input.ok && isJsonObject(input.value) && found.manifest.program !== undefined;
  return isProgram ? withProgram(found, input.value, hashOf(toolHash) ?? blake3Hash) : undefined;
}

async function replayCall(
  { call, seq, tool }: Playable,
  entries: Run["entries"],
  options: ReplayOptions,
): Promise<Divergence | undefined> {
  const { host, clock, timeoutMs = 10_000 } = options;
  const deadline = new Deadline(timeoutMs, clock);
  const journal = new Journal(call.callId, seq, entries);
  const flow = new OutputStream(call.outputBytes, journal.hash);
  const end = journal.end;
  const isolate = await openWithin(host, tool, deadline);
  const late = Promise.withResolvers<"late">();
  const stopTimer = deadline.watch(() => late.resolve("late"));
  try {
    const running = isolate && runIn(isolate, call, journal, flow);
    const outcome = await (running ? Promise.race([running, journal.diverged, late.promise]) : "late");
    if (outcome === "late")
      return journal.divergence(end.seq, end.hash, journal.hash.text("timed out"), "The call did not end.");
    if (hasOwn(outcome, "seq")) return outcome;
    const unasked = journal.unasked;
    if (unasked)
      return journal.divergence(
        unasked.seq,
        unasked.hash,
        journal.hash.text(""),
        "The tool did not make this request.",
      );
    const { outcomeHash, result, outcome: kind } = await outcomeParts(outcome, journal.hash, flow);
    const difference = firstDifference(readable(end.what), readable({ outcome: kind, ...result }));
    if (outcomeHash === end.hash && !difference) return undefined;
    return journal.divergence(end.seq, end.hash, outcomeHash, "The tool returned another value.", difference);
  } finally {
    stopTimer();
    isolate?.terminate("the replay has ended");
  }
}

function runIn(isolate: Isolate, call: RecordedCall, journal: Journal, flow: OutputStream): Promise<IsolateOutcome> {
  const { callId, sessionId, inputText, outputKind, outputBytes, fuel, memoryBytes, seed, nowMs } = call;
  const port: CallPort = {
    signal: new AbortController().signal,
    log: () => {},
    progress: () => {},
    request: (request) => journal.answer(readRequest(request)),
    write: (piece) => flow.keep(piece),
    async read() {
      const reply = await journal.answer(bodyRead);
      return reply.ok ? reply.body : undefined;
    },
  };
  const playable = { callId, sessionId, inputText, outputKind, outputBytes, seed, nowMs, real: allLogical };
  const given = {
    ...playable,
    ...(call.hasBody && { hasBody: true }),
    ...(fuel !== undefined && { fuel }),
    ...(memoryBytes !== undefined && { memoryBytes }),
  };
  return isolate.call(given, port);
}

interface ComparedEntry {
  readonly seq: number;
  readonly hash: string;
  readonly what: JsonObject;
}

/** The replay compares JSON outputs as JSON: a place in it says more than one in its text. */
function readable(result: JsonObject): JsonObject {
  if (result["form"] !== "json" || typeof result["text"] !== "string") return result;
  const { text, form: _, ...others } = result;
  const parsed = parseJson(text);
  return parsed.ok ? { ...others, output: parsed.value } : result;
}

/** The recorded answers of one call, in their order. */
class Journal {
  readonly end: ComparedEntry;
  /** In which the run was recorded. */
  readonly hash: Hash;
  readonly diverged: Promise<Divergence>;
  readonly #callId: string;
  readonly #requests: ComparedEntry[] = [];
  /** Still to be given, in order. */
  readonly #replies: { readonly index: number; readonly reply: CapabilityReply }[] = [];
  readonly #waiting = new Map<number, (reply: CapabilityReply) => void>();
  readonly #turn = serializeReplies();
  #asked = 0;
  #diverge: (divergence: Divergence) => void = () => {};

  /** @param from index of the call's beginning; entries behind its end belong to another attempt */
  constructor(callId: string, from: number, entries: Run["entries"]) {
    this.#callId = callId;
    this.diverged = new Promise((resolve) => (this.#diverge = resolve));
    let end: ComparedEntry | undefined;
    for (const [seq, entry] of entries.entries()) {
      if (entry.callId !== callId || seq < from || end) continue;
      if (entry.kind === "request") this.#requests.push({ seq, hash: entry.requestHash, what: entry.request });
      else if (entry.kind === "reply") this.#replies.push({ index: entry.index, reply: replyOf(entry) });
      else if (entry.kind === "outcome")
        end = { seq, hash: entry.outcomeHash, what: { outcome: entry.outcome, ...entry.result } };
    }
    this.end = present(end);
    this.hash = hashOf(this.end.hash) ?? blake3Hash;
  }

  /** The first request of then that was not made again. */
  get unasked(): ComparedEntry | undefined {
    return this.#requests[this.#asked];
  }

  answer(asked: Parameters<typeof requestParts>[0]): Promise<CapabilityReply> {
    const { request, requestHash: hash } = requestParts(asked, this.hash);
    const index = this.#asked++;
    const expected = this.#requests[index] ?? this.end;
    if (expected.hash !== hash) {
      const isOther = index < this.#requests.length;
      const reason = isOther ? "The tool made another request." : "The tool made one request more.";
      const difference = isOther ? firstDifference(expected.what, request) : undefined;
      this.#diverge(this.divergence(expected.seq, expected.hash, hash, reason, difference));
      return new Promise(() => {}); // The replay ends here, and the isolate with it.
    }
    return new Promise((resolve) => {
      this.#waiting.set(index, resolve);
      void this.#give();
    });
  }

  divergence(seq: number, expectedHash: string, actualHash: string, what: string, difference?: Difference): Divergence {
    const where =
      difference &&
      ` At ${difference.path || "the root"} the run has ${difference.expected}, the replay ${difference.actual}.`;
    const reason = `${what}${where ?? ""}`;
    return { callId: this.#callId, seq, expectedHash, actualHash, ...(difference && { difference }), reason };
  }

  /** As many turns as there are answers that can be given; each gives the one that is next by then. */
  async #give(): Promise<void> {
    await this.#turn();
    const next = this.#replies[0];
    const settle = next && this.#waiting.get(next.index);
    if (!settle) return;
    this.#waiting.delete(next.index);
    this.#replies.shift();
    settle(next.reply);
    if (this.#waiting.size > 0) void this.#give();
  }
}

/**
 * Not checked again: the guest reads these replies like those of a broker. Only the host adds
 * bytes, so bytes in a forged answer are left out.
 */
function replyOf({ reply, body }: Extract<RunEntry, { kind: "reply" }>): CapabilityReply {
  const { body: _, ...said } = reply;
  const bytes = body === null ? undefined : decodeBase64(body);
  return { ...said, ...(bytes && { body: bytes }) } as unknown as CapabilityReply;
}
