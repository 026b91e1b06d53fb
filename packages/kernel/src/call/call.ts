import { type EventScope, eventScope } from "../audit/scope.ts";
import type { BrokerSession } from "../capability/broker.ts";
import type { Grant } from "../capability/grant.ts";
import { randomHex, uuidv7 } from "../id/uuid.ts";
import { childSpan } from "../id/trace.ts";
import type { Clock } from "../isolate/clock.ts";
import type { CallOptions } from "./call-options.ts";
import { limits } from "../limits.ts";
import type { Hash } from "../normalize/hash.ts";
import type { JsonValue } from "../normalize/json.ts";
import { flat } from "../normalize/text.ts";
import type { Proof } from "../policy/proof.ts";
import type { ErrorCode } from "../result.ts";
import type { LiveCall } from "./live.ts";
import { type Fault, readOptions, readTool } from "./options.ts";

/** The call from within which another one is made. */
export interface Parent {
  readonly call: Call;
  /** `name@version`. */
  readonly toolId: string;
  readonly toolHash: string;
  /** The proof that it runs on. */
  readonly proofId: string;
  /** Aborts when it ends, however it does: nothing of it outlives it. */
  readonly ended: AbortSignal;
  /** Its network budget, on which the calls from within draw as well. */
  readonly spend: BrokerSession["spend"];
  /** Stops its time, and that of all around it, until the returned function is called. */
  readonly pause: () => () => void;
}

/** Who calls, and everything that belongs to one call from its arrival to its end. */
export interface Call {
  readonly callId: string;
  readonly sessionId: string;
  readonly caller: string;
  readonly traceparent: string;
  /** The caller's own name for what this call belongs to. */
  readonly correlationId: string | null;
  /** What the caller asked for, as text: not yet a known tool. */
  readonly toolName: string;
  readonly options: CallOptions;
  /** What is wrong with the options: then nothing of them was taken over. */
  readonly fault: Fault | undefined;
  /** Where a stream goes. Whoever answers the call ends it. */
  readonly output: WritableStreamDefaultWriter<Uint8Array> | undefined;
  /** Where a body comes from. Whoever answers the call ends it. */
  readonly body: ReadableStreamDefaultReader<unknown> | undefined;
  readonly scope: EventScope;
  /** The kernel's one algorithm. */
  readonly hash: Hash;
  readonly arrivedMs: number;
  /** Seeds what the tool sees as random. */
  readonly seed: string;
  readonly nowMs: number;
  /** Sum of the times spent waiting: for an approval, for a slot, for an equal call. */
  queuedMs: number;
  readonly warnings: string[];
  /** `undefined` for a call from outside. */
  readonly parent: Parent | undefined;
  /** Only where the kernel has a suspender. */
  live: LiveCall | undefined;
  /** What it held before it was suspended, where that was under another policy: it gets nothing beyond. */
  readonly layers?: Grant["layers"];
  /** Shared by all calls that one call from outside leads to. */
  readonly tree: {
    callsLeft: number;
    /** Log lines and progress of calls from within that the outermost caller still hears. */ messagesLeft: number;
  };
}

export function openCall(tool: unknown, foreign: unknown, clock: Clock, hash: Hash, parent?: Parent): Call {
  const { name, pinned } = readTool(tool);
  const { options: given, fault, output, body } = readOptions(foreign);
  const options = pinned === undefined ? given : { ...given, version: pinned };
  const nowMs = clock.now();
  const callId = flat(uuidv7(nowMs));
  const sessionId = nameOr(options.sessionId, callId, hash);
  const traceparent = flat(childSpan(options.traceparent));
  return {
    callId,
    sessionId,
    caller: nameOr(options.caller, "anonymous", hash),
    traceparent,
    correlationId: options.correlationId === undefined ? null : nameOr(options.correlationId, "", hash),
    toolName: name.slice(0, limits.nameLength).toWellFormed(),
    options,
    fault,
    output,
    body,
    scope: eventScope(callId, sessionId, traceparent, options.onEvent),
    hash,
    arrivedMs: clock.monotonicMs(),
    seed: randomHex(32),
    nowMs,
    queuedMs: 0,
    warnings: [],
    parent,
    live: undefined,
    tree: parent?.call.tree ?? { callsLeft: limits.nestedCalls, messagesLeft: limits.messagesPerCall },
  };
}

/**
 * Names go into a canonical log: bounded, and without lone surrogates. A name that has to be changed for that carries its own digest, because
 * isolates, approvals and rates hang on names: two different ones must not become one.
 */
function nameOr(name: unknown, fallback: string, hash: Hash): string {
  if (typeof name !== "string" || name === "") return fallback;
  if (name.length <= limits.nameLength && name.isWellFormed()) return name;
  // JSON has an escape for a lone surrogate, UTF-8 has nothing.
  const digest = hash.text(JSON.stringify(name));
  return `${name.slice(0, limits.nameLength - digest.length - 1)}~${digest}`.toWellFormed();
}

/** Why a call goes no further. */
export interface Stop {
  readonly ok: false;
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: JsonValue;
  readonly hint: string;
  readonly retryable: boolean;
  /** Where something was decided that the state before did not yet know. */
  readonly proof?: Proof;
}

/** Of a call whose {@link LiveCall} takes it away, and says what it ends with. */
export const suspended: Stop = stop("SUSPENDED", "");

export type Step<State> = { readonly ok: true; readonly state: State } | Stop;

export function next<State>(state: State): { readonly ok: true; readonly state: State } {
  return { ok: true, state };
}

export function stop(
  code: ErrorCode,
  message: string,
  more: Partial<Omit<Stop, "ok" | "code" | "message">> = {},
): Stop {
  return { ok: false, code, message, details: null, hint: "", retryable: false, ...more };
}
