import { eventScope } from "../../audit/scope.ts";
import { childSpan } from "../../id/trace.ts";
import { randomHex, uuidv7 } from "../../id/uuid.ts";
import type { Families } from "../../capability/registry.ts";
import type { Clock } from "../../isolate/clock.ts";
import * as limits from "../../limits.ts";
import type { Hash } from "../../hash/hash.ts";
import { flatten } from "../../json/flat-text.ts";
import { type ReadOptions, readOptions, readTool } from "./read-options.ts";
import { CallRecord, type Parent } from "../record/record.ts";

/** Reads what a caller asks for, once. The caller of this function owns the call. */
export function openCall(
  tool: unknown,
  foreign: unknown,
  clock: Clock,
  hash: Hash,
  families: Families,
  parent?: Parent,
): CallRecord {
  return openRead(readTool(tool), readOptions(foreign, families), clock, hash, parent);
}

/** The same where the options have been read: their streams are locked by now. */
export function openRead(
  { name, pinned }: ReturnType<typeof readTool>,
  { options: given, fault, output, body }: ReadOptions,
  clock: Clock,
  hash: Hash,
  parent?: Parent,
): CallRecord {
  const options = pinned === undefined ? given : { ...given, version: pinned };
  const nowMs = clock.now();
  const callId = flatten(uuidv7(nowMs));
  const sessionId = nameOr(options.sessionId, callId, hash);
  const traceparent = flatten(childSpan(options.traceparent));
  return new CallRecord({
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
    parent,
    tree: parent?.call.tree ?? { callsLeft: limits.nestedCalls, messagesLeft: limits.messagesPerCall },
  });
}

/**
 * Names go into a canonical log: bounded, and without lone surrogates. A name that has to be changed
 * for that carries its own digest, because isolates, approvals and rates hang on names: two
 * different ones must not become one.
 */
function nameOr(name: unknown, fallback: string, hash: Hash): string {
  if (typeof name !== "string" || name === "") return fallback;
  if (name.length <= limits.nameLength && name.isWellFormed()) return name;
  // JSON has an escape for a lone surrogate, UTF-8 has nothing.
  const digest = hash.text(JSON.stringify(name));
  return `${name.slice(0, limits.nameLength - digest.length - 1)}~${digest}`.toWellFormed();
}
