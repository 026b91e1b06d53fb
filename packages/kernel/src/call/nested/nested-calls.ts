import type { CallOptions } from "../arrival/call-options.ts";
import type { Broker, BrokerSession } from "../../capability/broker.ts";
import type { BrokerError, BrokerReply, CapabilityReply, CapabilityRequest } from "../../capability/request.ts";
import { toolCall } from "../../capability/families/tool-call.ts";
import { checkName } from "../../capability/matching/names.ts";
import type { Deadline } from "../../bounds/deadline.ts";
import { depthOf } from "../record/ancestors.ts";
import { modelError } from "../faults/model-error.ts";
import type { CallRecord, Parent } from "../record/record.ts";
import { fuelOf, spendFuel } from "./nested-fuel.ts";
import type { Reserved } from "../steps/reserve.ts";
import * as limits from "../../limits.ts";
import type { JsonObject, JsonValue } from "../../json/json.ts";
import { type Listener, tell } from "../../support/foreign.ts";
import type { CallFailure, CallResult } from "../../result.ts";

/** Makes one call from within another. Never rejects. */
export type CallWithin = (name: string, input: JsonValue, options: CallOptions, parent: Parent) => Promise<CallResult>;

/** The parts of a parent call that its nested calls depend on. */
export type Caller = Pick<Parent, "call" | "toolId" | "toolHash" | "proofId" | "pause">;

/**
 * Serves `tool.call` for one call: every call goes the whole way, for the same caller and session, under the options that narrowed its parent. The parent
 * bounds it: by its end, its network budget, its caller's bound of fuel, in depth, and in the number of calls from one outside.
 */
export class NestedCalls implements Broker {
  readonly families: Broker["families"] = [toolCall];
  readonly #caller: Caller;
  readonly #take: CallWithin;

  constructor(caller: Caller, take: CallWithin) {
    this.#caller = caller;
    this.#take = take;
  }

  needs({ operation, arguments: { name } }: CapabilityRequest): ReturnType<Broker["needs"]> {
    if (operation !== "call" || typeof name !== "string")
      return refused("INVALID_REQUEST", "The tool's name is not a string.");
    const fault = checkName(name);
    return fault === undefined
      ? { ok: true, needs: [{ kind: "tool.call", tool: name }] }
      : refused("INVALID_REQUEST", `The value is not a tool's name: ${fault}.`);
  }

  async serve({ arguments: { name, input = null } }: CapabilityRequest, session: BrokerSession): Promise<BrokerReply> {
    const { call } = this.#caller;
    if (depthOf(call) >= limits.nestedDepth)
      return bounded(`Nested calls have a maximum depth of ${limits.nestedDepth}.`, "Nest fewer calls.");
    if (call.tree.callsLeft === 0)
      return bounded(`One call may lead to ${limits.nestedCalls} others.`, "Do less in one call.");
    call.tree.callsLeft--;
    const make = async (): Promise<BrokerReply> => replyOf(await this.#call(name as string, input, session), session);
    const fuel = fuelOf(call);
    if (!fuel) return make();
    return fuel.inTurn(async () =>
      fuel.left > 0 ? make() : bounded("The calls within this one used up its fuel.", "Do less in one call."),
    );
  }

  #call(name: string, input: JsonValue, session: BrokerSession): Promise<CallResult> {
    return within(this.#caller, session, (options, parent) => this.#take(name, input, options, parent));
  }
}

/** Makes a call that ends with the calling one, and is heard where that is. */
export async function within(
  caller: Caller,
  session: BrokerSession,
  make: (options: CallOptions, parent: Parent) => Promise<CallResult>,
): Promise<CallResult> {
  const { call } = caller;
  const { correlationId, grants, nestedApprover, onEvent, onLog, onProgress, signal } = call.options;
  const stopped = firstAbort(session.signal, signal);
  const fuel = fuelOf(call);
  const options: CallOptions = {
    caller: call.caller,
    sessionId: call.sessionId,
    traceparent: call.traceparent,
    waitMs: limits.nestedWaitMs,
    signal: stopped.signal,
    ...(correlationId !== undefined && { correlationId }),
    ...(grants !== undefined && { grants }),
    // The call's own approver stays outside: its yes is to the question of that call.
    ...(nestedApprover !== undefined && { approver: nestedApprover, nestedApprover }),
    ...(onEvent !== undefined && { onEvent }),
    ...(onLog !== undefined && { onLog: heard(call, onLog) }),
    ...(onProgress !== undefined && { onProgress: heard(call, onProgress) }),
  };
  try {
    const parent: Parent = { ...caller, ended: session.signal, spend: session.spend };
    const result = await make(options, fuel ? { ...parent, fuelLeft: fuel.left } : parent);
    spendFuel(call, result.meta?.fuelUsed ?? 0);
    return result;
  } finally {
    stopped.leave();
  }
}

/** All calls from within together say at most as much as one call: each has a bound of its own, and there may be a thousand. */
function heard<Said>({ tree, parent }: CallRecord, listener: Listener<[Said]>): Listener<[Said]> {
  if (parent) return listener; // Counted where it began.
  return (said) => {
    if (tree.messagesLeft === 0) return;
    tree.messagesLeft--;
    tell(listener, [said]);
  };
}

/** Makes those parts. A wait of a nested call stops the time of all its parents. */
export function callerOf({ call, tool, proof }: Reserved, deadline: Deadline): Caller {
  const pause = (): (() => void) => {
    const goOn = deadline.pause();
    const goOnAround = call.parent?.pause();
    return () => {
      goOn();
      goOnAround?.();
    };
  };
  return { call, toolId: tool.id, toolHash: tool.hash, proofId: proof.proofId, pause };
}

export function replyOf(result: CallResult, session: BrokerSession): CapabilityReply {
  const { callId } = result;
  if (!result.ok) return { ok: true, value: { ok: false, error: errorFor(result, session), callId } };
  const { data, hash } = result;
  if (data instanceof Uint8Array) return { ok: true, value: { ok: true, data: null, hash, callId }, body: data };
  return { ok: true, value: { ok: true, data, hash, callId } };
}

/** A tool learns of no tool that it may not call, so the names of similar ones are sifted. */
function errorFor({ error: whole }: CallFailure, session: BrokerSession): JsonObject {
  const error = modelError(whole);
  if (error.code !== "TOOL_NOT_FOUND") return { ...error };
  const { nearest = [] } = (error.details ?? {}) as { readonly nearest?: readonly string[] };
  const known = nearest.filter((tool) => session.refusal({ kind: "tool.call", tool }) === undefined);
  const hint = known.length > 0 ? `Did you mean ${known.join(", ")}?` : "";
  return { ...error, details: { nearest: known }, hint };
}

/** A signal that aborts with the first of two. */
function firstAbort(
  one: AbortSignal,
  other: AbortSignal | undefined,
): { readonly signal: AbortSignal; readonly leave: () => void } {
  const controller = new AbortController();
  const abort = (): void => controller.abort("the calling call has ended");
  const signals = other ? [one, other] : [one];
  for (const signal of signals) {
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
  }
  return {
    signal: controller.signal,
    leave: () => {
      for (const signal of signals) signal.removeEventListener("abort", abort);
    },
  };
}

function refused(
  code: BrokerError["code"],
  message: string,
  hint = "",
): { readonly ok: false; readonly error: BrokerError } {
  return { ok: false, error: { code, message, hint } };
}

const bounded = (message: string, hint: string): BrokerReply => refused("BOUNDS_EXCEEDED", message, hint);
