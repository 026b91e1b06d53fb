import type { CapabilityReply, CapabilityRequest, OwnRequest } from "../capability/request.ts";
import type { CallPort, IsolateCall, IsolateHost, IsolateOutcome } from "../isolate/port.ts";
import { readRequest } from "../isolate/reading.ts";
import { OutputStream } from "../hash/output-stream.ts";
import { blake3Hash } from "../hash/blake3-hash.ts";
import type { Hash } from "../hash/hash.ts";
import type { JsonObject } from "../json/json.ts";
import { encodeBase64 } from "../bytes/base64.ts";
import type { RegisteredTool } from "../tool/package.ts";
import type { RunEntry } from "./run.ts";
import { hashYielding, recordValue, recordLongValue, type RecordedValue } from "./recorded-value.ts";
import { serializeReplies } from "./serialize-replies.ts";

/** Calls with counted attempts. */
const REMEMBERED = 10_000;

/**
 * A host that runs tools on another one and writes down all that they could observe. Calls may overlap; entries come in the order of what happened.
 *
 * @example
 * const entries: RunEntry[] = [];
 * const kernel = await createKernel({ host: recordingHost(host, (entry) => entries.push(entry)) });
 *
 * @param by The kernel's algorithm. Default BLAKE3.
 */
export function recordingHost(host: IsolateHost, write: (entry: RunEntry) => void, by: Hash = blake3Hash): IsolateHost {
  const attempts = new Attempts();
  return {
    name: host.name,
    sources: host.sources,
    enforces: host.enforces,
    preempts: host.preempts,
    brokers: host.brokers,
    ...(host.check && { check: (tool) => host.check?.(tool) }),
    close: () => host.close(),
    async open(tool, isWanted) {
      const isolate = await host.open(tool, isWanted);
      return {
        get alive() {
          return isolate.alive;
        },
        terminate: (reason) => isolate.terminate(reason),
        async call(call, port) {
          write(callEntry(tool, call, attempts.next(call.callId)));
          const recorder = new CallRecorder(call, write, by);
          const outcome = await isolate.call(call, recorder.around(port));
          await recorder.end(outcome);
          return outcome;
        },
      };
    },
  };
}

/** The number of attempts of each call. A retry comes soon, so the oldest counts leave first. */
class Attempts {
  readonly #counts = new Map<string, number>();

  next(callId: string): number {
    const attempt = (this.#counts.get(callId) ?? 0) + 1;
    this.#counts.delete(callId);
    this.#counts.set(callId, attempt);
    const [oldest] = this.#counts.keys();
    if (oldest !== undefined && this.#counts.size > REMEMBERED) this.#counts.delete(oldest);
    return attempt;
  }
}

function callEntry(tool: RegisteredTool, call: IsolateCall, attempt: number): RunEntry {
  const { callId, sessionId, inputText, outputKind, outputBytes, fuel, memoryBytes, seed, nowMs, hasBody } = call;
  const real = (["clock", "random"] as const).filter((kind) => call.real[kind]);
  const shape = { callId, sessionId, inputText, outputKind, outputBytes, seed, nowMs, real };
  return {
    kind: "call",
    tool: tool.id,
    toolHash: tool.hash,
    ...(tool.composedOf !== undefined && { packageHash: tool.composedOf }),
    ...(attempt > 1 && { attempt }),
    ...(hasBody && { hasBody }),
    ...(fuel !== undefined && { fuel }),
    ...(memoryBytes !== undefined && { memoryBytes }),
    ...shape,
  };
}

/** Writes down what one call asks, what it is answered, and how it ends. */
class CallRecorder {
  readonly #callId: string;
  readonly #write: (entry: RunEntry) => void;
  readonly #by: Hash;
  readonly #flow: OutputStream;
  readonly #turn = serializeReplies();
  #requests = 0;
  #hasEnded = false;

  constructor({ callId, outputBytes }: IsolateCall, write: (entry: RunEntry) => void, by: Hash) {
    this.#callId = callId;
    this.#write = write;
    this.#by = by;
    this.#flow = new OutputStream(outputBytes, by);
  }

  /** The kernel's port, with a record of what goes through it. */
  around(port: CallPort): CallPort {
    return {
      get signal() {
        return port.signal;
      },
      log: (entry) => port.log(entry),
      progress: (progress) => port.progress(progress),
      used: (usage) => port.used?.(usage),
      write: async (piece) => {
        // Before the transfer: afterwards another party owns the memory.
        if (!this.#hasEnded) await this.#flow.keep(piece);
        return (await port.write?.(piece)) ?? false;
      },
      request: (foreign: CapabilityRequest) => {
        const request = readRequest(foreign);
        return this.#noted(request, () => port.request(request), split);
      },
      read: () => this.#noted(bodyRead, async () => port.read?.(), givenBody),
    };
  }

  async end(outcome: IsolateOutcome): Promise<void> {
    this.#hasEnded = true;
    const callId = this.#callId;
    this.#write({ kind: "outcome", callId, ...(await outcomeParts(outcome, this.#by, this.#flow)) });
  }

  async #noted<T>(asked: Asked, answer: () => Promise<T>, said: (given: T) => Said): Promise<T> {
    if (this.#hasEnded) return answer();
    const callId = this.#callId;
    const index = this.#requests++;
    this.#write({ kind: "request", callId, index, ...requestParts(asked, this.#by) });
    const given = await answer();
    // Before the transfer: afterwards another party owns the memory.
    const reply = said(given);
    await this.#turn();
    // The tool observed no answer for which it did not wait.
    if (!this.#hasEnded) this.#write({ kind: "reply", callId, index, ...reply });
    return given;
  }
}

type Asked = Omit<OwnRequest, "kind"> & { readonly kind: string };
type Said = Pick<Extract<RunEntry, { kind: "reply" }>, "reply" | "body">;

/** How a run says that the tool read on in its body: like any other request, though none of a capability. */
export const bodyRead: Asked = { kind: "body", operation: "read", arguments: {} };

function givenBody(piece: Uint8Array | undefined): Said {
  return { reply: { ok: piece !== undefined, value: null }, body: piece ? encodeBase64(piece) : null };
}

/** Of one that cannot be read, its fault. */
export function requestParts(
  { kind, operation, arguments: asked, body, fault }: Asked,
  by: Hash,
): {
  readonly request: JsonObject;
  readonly requestHash: string;
} {
  const parts = { kind, operation, arguments: fault ?? asked, body: body ? by.bytes(body) : null };
  const { what, hash } = recordValue(parts, by);
  return { request: what, requestHash: hash };
}

/** @param flow the streamed output; the outcome of a stream reports only that it is complete */
export async function outcomeParts(
  outcome: IsolateOutcome,
  by: Hash,
  flow: OutputStream,
): Promise<{
  readonly outcome: string;
  readonly result: JsonObject;
  readonly outcomeHash: string;
}> {
  const { what, hash } = await resultOf(outcome, by, flow);
  return { outcome: outcome.kind, result: what, outcomeHash: hash };
}

async function resultOf(outcome: IsolateOutcome, by: Hash, flow: OutputStream): Promise<RecordedValue> {
  if (outcome.kind !== "returned") return recordValue(outcome, by);
  const { output } = outcome;
  switch (output.form) {
    case "stream":
      return ofBytes(output.form, flow.byteLength, flow.digest);
    case "binary":
      return ofBytes(output.form, output.bytes.length, await hashYielding(output.bytes, by));
    default:
      return recordLongValue({ form: output.form, text: output.text }, by);
  }
}

function ofBytes(form: string, byteLength: number, hash: RecordedValue["hash"]): RecordedValue {
  return { what: { form, byteLength, hash }, hash };
}

function split(reply: CapabilityReply): Said {
  if (!reply.ok) return { reply: { ok: false, error: { ...reply.error } }, body: null };
  return { reply: { ok: true, value: reply.value }, body: reply.body ? encodeBase64(reply.body) : null };
}
