import type { JsonObject } from "../json/json.ts";
import { blake3Hash } from "../hash/blake3-hash.ts";
import { hashOf } from "../hash/hash-by-algorithm.ts";
import type { OutputContract } from "../tool/manifest.ts";
import { hashOfRecorded } from "./recorded-value.ts";
import { hasOwn } from "../support/guards.ts";

/**
 * One entry of a run: all that a tool could observe, in the order in which it happened. A run file (`.keyhole`) has one per line, between a header and an end.
 */
export type RunEntry =
  /** A call reached its isolate. */
  | {
      readonly kind: "call";
      readonly callId: string;
      /** Number of the run, where the call was tried again: from 2. */
      readonly attempt?: number;
      readonly sessionId: string;
      readonly tool: string;
      /** Of what ran: the package, or the package with the input's program in it. */
      readonly toolHash: string;
      /** The package into which the program was put; what the program is, its manifest and the input say. */
      readonly packageHash?: string;
      /** A body came with the input: its pieces are answers to requests of kind `body`. */
      readonly hasBody?: boolean;
      readonly inputText: string;
      readonly outputKind: OutputContract["kind"];
      readonly outputBytes: number;
      /** Where the call had them: what it had left of its fuel, and the bound of its memory. */
      readonly fuel?: number;
      readonly memoryBytes?: number;
      readonly seed: string;
      readonly nowMs: number;
      /** Sources that were real, not logical: no replay of such a call is possible. */
      readonly real: readonly string[];
    }
  /** The tool asked for its capability request number `index`. `request` is what `requestHash` is the digest of; a body is in it as a digest. */
  | {
      readonly kind: "request";
      readonly callId: string;
      readonly index: number;
      readonly request: JsonObject;
      readonly requestHash: string;
    }
  /** It has its answer. `body` is base64. */
  | {
      readonly kind: "reply";
      readonly callId: string;
      readonly index: number;
      readonly reply: JsonObject;
      readonly body: string | null;
    }
  /** The isolate's answer ended the call. `result` is what `outcomeHash` stands for; bytes are in it as a digest. */
  | {
      readonly kind: "outcome";
      readonly callId: string;
      readonly outcome: string;
      readonly result: JsonObject;
      readonly outcomeHash: string;
    };

export interface Run {
  readonly entries: readonly RunEntry[];
}

/** Why some entries are no whole run. */
export interface RunFault {
  /** Place of the entry, from 0. */
  readonly seq: number;
  readonly callId: string;
  readonly reason: string;
}

/** Whether every call of a run is whole: one beginning and one end, and between them its requests, each answered at most once. */
export function runFault({ entries }: Run): RunFault | undefined {
  const calls = new Map<
    string,
    { asked: number; readonly answered: Set<number>; hasEnded: boolean; readonly seq: number; readonly attempt: number }
  >();
  for (const [seq, entry] of entries.entries()) {
    const { callId } = entry;
    const fault = (reason: string): RunFault => ({ seq, callId, reason });
    const call = calls.get(callId);
    if (entry.kind === "call") {
      const { attempt = 1 } = entry;
      if (call && (!call.hasEnded || attempt <= call.attempt)) return fault("The run has this call twice.");
      if (attempt !== (call?.attempt ?? 0) + 1)
        return fault(`The run does not have attempt ${attempt - 1} of this call.`);
      calls.set(callId, { asked: 0, answered: new Set(), hasEnded: false, seq, attempt });
      continue;
    }
    if (!call) return fault("The run has no beginning of this call.");
    if (call.hasEnded) return fault("The call has ended already.");
    switch (entry.kind) {
      case "request":
        if (entry.index !== call.asked++) return fault(`Request ${call.asked - 1} of this call is missing.`);
        if (!isOf(entry.requestHash, entry.request)) return fault("The request does not match its digest.");
        break;
      case "reply":
        if (entry.index >= call.asked) return fault("The entry answers a request that the run lacks.");
        if (call.answered.has(entry.index)) return fault("The request has two answers.");
        if (entry.body !== null && !isBase64(entry.body)) return fault("The body of an answer is not base64.");
        call.answered.add(entry.index);
        break;
      case "outcome":
        if (!isOutcomeOf(entry)) return fault("The outcome does not match its digest.");
        call.hasEnded = true;
    }
  }
  for (const [callId, { hasEnded, seq }] of calls)
    if (!hasEnded) return { seq, callId, reason: "The run has no end of this call." };
  return undefined;
}

function isOf(digest: string, what: JsonObject): boolean {
  return hashOfRecorded(what, hashOf(digest) ?? blake3Hash) === digest;
}

/** Of bytes, the digest is that of the outcome, and all that is known of them. */
function isOutcomeOf({ outcome, result, outcomeHash }: Extract<RunEntry, { kind: "outcome" }>): boolean {
  if (outcome !== "returned" && result["kind"] !== outcome && !hasOwn(result, "fault")) return false;
  const isBytes = outcome === "returned" && (result["form"] === "binary" || result["form"] === "stream");
  return isBytes ? result["hash"] === outcomeHash : isOf(outcomeHash, result);
}

/** Whole and with its padding (RFC 4648, section 4), so that bytes have one text. */
function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}
