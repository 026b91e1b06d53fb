import {
  type CallOptions,
  type CallResult,
  ceilings,
  type Clock,
  type JsonValue,
  type Kernel,
  type Preview,
} from "@keyhole/kernel";
import { HeldInput, HeldOutput } from "@keyhole/kernel/context";
import type { BusMessage, BusPort, OutgoingMessage } from "../port.ts";
import { headers, type Kind, kindOf } from "../wire/headers.ts";
import { refusal, type RefusalCode } from "../wire/refusal.ts";
import { sealed } from "../wire/seal.ts";
import type { Subjects } from "../wire/subjects.ts";
import type { BusCallers, KnownCaller } from "./callers.ts";
import type { Offers } from "./offers.ts";
import { failureReply, replyOf, resultReplies } from "./replies.ts";
import { type BusRequest, readInput, readRequest, returnAddress } from "./request.ts";
import { bytesOf, type KeptReply, type KnownCall, RunningCalls } from "./running-calls.ts";

/** A question is short, and a result is not. */
const MOST_TOLD = 20;
/** No call of a kernel runs longer. A minute more, for a clock that is ahead. */
const MOST_AHEAD_MS = ceilings.timeoutMs + 60_000;

export interface CallServerPorts {
  readonly kernel: Kernel;
  readonly port: BusPort;
  readonly subjects: Subjects;
  readonly callers: BusCallers;
  readonly offers: Offers;
  readonly clock: Clock;
  readonly onError: (error: Error) => void;
}

/** Makes the calls that requests ask for, and answers each of them. */
export class CallServer {
  readonly #ports: CallServerPorts;
  readonly #calls: RunningCalls;
  readonly #running = new Set<Promise<void>>();
  /** Calls that ended while no caller could receive the end. */
  readonly #untold = new Set<KnownCall>();

  constructor(ports: CallServerPorts) {
    this.#ports = ports;
    this.#calls = new RunningCalls(ports.clock);
  }

  /** Resolves when no call runs. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** The connection was lost and is there again. */
  again(): void {
    for (const call of this.#untold) this.#tell(call);
    this.#untold.clear();
  }

  /** A message at a tool's subject of requests, or at one of its partitions. */
  take(tool: string, message: BusMessage, partition: number | undefined): void {
    const { callers, subjects, onError } = this.#ports;
    const address = returnAddress(message, subjects);
    if (!address) return onError(new Error(`A message at ${message.subject} cannot be answered. It was dropped.`));
    const { reply, correlation } = address;
    const from = callers(message);
    const refuse = (code: RefusalCode): void =>
      this.#send(reply, failureReply(correlation, refusal(code)), from ?? strangers);
    if (!from) return refuse("UNKNOWN_CALLER");
    const known = this.#calls.find(from, correlation);
    if (known) return this.#tell(known);
    const request = readRequest(message, subjects, partition);
    if (!request || !readInput(message)) return refuse("BAD_REQUEST");
    const leftMs = request.deadlineMs - this.#ports.clock.now();
    if (leftMs <= 0) return refuse("DEADLINE_PASSED");
    if (leftMs > MOST_AHEAD_MS) return refuse("BAD_REQUEST");
    const offer = this.#ports.offers.all.get(tool);
    if (offer?.hash !== request.definition) return refuse("DEFINITION_CHANGED");
    const call = this.#calls.add(from, request, message.body.length);
    if (!call) return refuse("BUSY");
    // Values can need twenty times the memory of their text, and the text may be a part of a larger buffer.
    const body = call.token === undefined ? message.body : message.body.slice();
    const start = (): void => {
      const input = readInput({ body }) ?? {}; // It was read before.
      const running = this.#run(call, request, tool, offer.manifest.version, input);
      this.#running.add(running);
      void running.finally(() => this.#running.delete(running));
    };
    if (call.token === undefined) start();
    else this.#offer(call, start, leftMs);
  }

  /** A listener can send a sealed request again, and another kernel gets it. So its caller says which kernel runs it. */
  #offer(call: KnownCall, start: () => void, leftMs: number): void {
    const stop = this.#ports.clock.after(leftMs, () => this.#withdraw(call), "idly");
    call.start = () => {
      stop();
      call.start = undefined;
      start();
    };
    this.#tell(call);
  }

  #withdraw(call: KnownCall): void {
    if (!call.start) return;
    call.start = undefined;
    this.#calls.end(call, openReply([failureReply(call.correlation, refusal("DEADLINE_PASSED"))]));
  }

  /** A caller asks after its call, or cancels it. Kernels that do not have the call say nothing. */
  control(message: BusMessage): void {
    const kind = kindOf(message);
    const correlation = message.headers.get(headers.correlation);
    const from = this.#ports.callers(message);
    const call = from && correlation !== undefined ? this.#calls.find(from, correlation) : undefined;
    if (!call) return;
    if (kind === "take" && message.headers.get(headers.kernel) === call.token) call.start?.();
    else if (kind === "cancel" && call.start) this.#withdraw(call);
    else if (kind === "cancel") call.cancel?.abort();
    else if (kind === "ask") this.#tell(call);
  }

  #tell(call: KnownCall): void {
    const { correlation } = call;
    if (call.cancel) return this.#sendTo(call, replyOf(call.start ? "offer" : "running", correlation));
    if (++call.told > MOST_TOLD) return;
    const send = (messages: readonly OutgoingMessage[]): void => messages.forEach((each) => this.#sendTo(call, each));
    const gone = [failureReply(correlation, refusal("RESULT_GONE"))];
    if (call.result) void call.result.open().then(send, () => send(gone));
    else send(gone);
  }

  async #run(call: KnownCall, request: BusRequest, tool: string, version: string, input: JsonValue): Promise<void> {
    const { kernel, clock, port } = this.#ports;
    const { deadlineMs, correlation } = call;
    const leftMs = Math.min(ceilings.timeoutMs, deadlineMs - clock.now());
    // Also while it waits for an approval or for its turn.
    const stop = clock.after(leftMs, () => call.cancel?.abort(), "idly");
    try {
      const result = await kernel.call(tool, input, { ...this.#optionsOf(call, request, leftMs), version });
      const replies = resultReplies(correlation, result, port.bodyBytes);
      this.#calls.end(call, this.#keptReply(call, replies, result, { tool, version, input }));
      if (!port.isConnected) this.#untold.add(call);
      call.told++;
      for (const each of replies) this.#sendTo(call, each);
    } finally {
      stop();
    }
  }

  /** A caller can lose its result, and ask for it when LOCKDOWN or another policy holds. */
  #keptReply(
    { correlation, from }: KnownCall,
    replies: readonly OutgoingMessage[],
    result: CallResult,
    { tool, version, input }: { readonly tool: string; readonly version: string; readonly input: JsonValue },
  ): KeptReply {
    const { callId, proof, effects } = result;
    // The error of a call that reached nothing tells nothing.
    if (!result.ok && effects.length === 0) return openReply(replies);
    const { caller, sessionId, grants } = from.caller;
    const options = { caller, version, ...(sessionId !== undefined && { sessionId }), ...(grants && { grants }) };
    const preview = (again: JsonValue): Promise<Preview> => this.#ports.kernel.preview(tool, again, options);
    const mayCall = this.#ports.offers.all.get(tool)?.manifest.capabilities.some(({ kind }) => kind === "tool.call");
    const source = { callId, proof, effects, mayCall, input: new HeldInput(input), preview };
    const held = new HeldOutput(replies, bytesOf(replies), source);
    const open = async (): Promise<readonly OutgoingMessage[]> => {
      const opened = await held.open();
      if (opened.ok) return opened.value;
      const { code, message, hint } = opened.error;
      return [failureReply(correlation, { code, message, hint, ran: "maybe" }, callId)];
    };
    return { bytes: held.bytes, open };
  }

  #optionsOf(call: KnownCall, { key, traceparent }: BusRequest, leftMs: number): CallOptions {
    const { correlation, cancel } = call;
    const { caller, sessionId, grants } = call.from.caller;
    const report = (kind: Kind, body: JsonValue): void =>
      this.#sendTo(call, replyOf(kind, correlation, body, [[headers.sequence, String(++call.sequence)]]));
    return {
      caller,
      ...(sessionId !== undefined && { sessionId }),
      ...(grants && { grants }),
      correlationId: correlation,
      ...(traceparent !== undefined && { traceparent }),
      ...(key !== undefined && { idempotencyKey: key }),
      ...(cancel && { signal: cancel.signal }),
      bounds: { timeoutMs: Math.max(1, Math.floor(leftMs)) },
      onProgress: (progress) => report("progress", { ...progress }),
      onLog: (entry) => report("log", { ...entry }),
    };
  }

  #sendTo({ reply, from, token }: KnownCall, { headers: own, body }: OutgoingMessage): void {
    const more = token === undefined ? [] : [[headers.kernel, token] as const];
    this.#send(reply, { headers: new Map([...own, ...more]), body }, from);
  }

  #send(reply: string, message: OutgoingMessage, from: Pick<KnownCaller, "credential">): void {
    try {
      this.#ports.port.publish(reply, sealed(reply, message, from.credential));
    } catch (error) {
      this.#ports.onError(error instanceof Error ? error : new Error("The bus took no answer."));
    }
  }
}

function openReply(replies: readonly OutgoingMessage[]): KeptReply {
  return { bytes: bytesOf(replies), open: async () => replies };
}

const strangers = { credential: undefined };
