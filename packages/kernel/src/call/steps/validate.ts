import type { EventRecorder } from "../../audit/log.ts";
import type { Limiter } from "../../bounds/limiter.ts";
import * as limits from "../../limits.ts";
import { canonicalJson, canonicalTextOf } from "../../json/canonical-json.ts";
import type { JsonValue } from "../../json/json.ts";
import { snapshotInOrder, type Taken } from "../../json/snapshot.ts";
import { yieldToEventLoop } from "../../support/yield-to-event-loop.ts";
import { type Target, targetsIn } from "../../tool/targets.ts";
import type { FaultText } from "../faults/fault-text.ts";
import { CallFault } from "../faults/fault.ts";
import * as texts from "../faults/texts.ts";
import type { CarriedPart } from "../record/carried-part.ts";
import type { DecisionEntry } from "../arrival/entry.ts";
import type { MaybePromise } from "../../support/maybe-promise.ts";
import type { CallRecord } from "../record/record.ts";
import type { Resolved } from "./resolve.ts";

declare class Made {
  #validate: never;
}
/** A call whose input is plain data that fits the tool's schema, with defaults filled in. */
export interface Validated extends Resolved, Input, Made {}

/** A copy, so the caller cannot change it after the decision. */
export interface Input {
  readonly input: JsonValue;
  /** Canonical. */
  readonly inputText: string;
  readonly inputHash: string;
  /** UTF-8 bytes of `inputText`. */
  readonly inputBytes: number;
  /** How many values it had as the caller gave it, itself included. */
  readonly inputNodes: number;
  /** The targets that its code states, and those that its arguments name. */
  readonly targets: readonly Target[];
}

/** The input as its canonical text. */
export const inputPart: CarriedPart<string> = { name: "input" };

export interface ValidatePorts {
  readonly log: EventRecorder;
  readonly limiter: Pick<Limiter, "holdInput">;
}

/** Step 2. Nothing to wait for but turns of the event loop, where an input has many values. */
export function validate(
  state: Resolved,
  entry: DecisionEntry,
  { log, limiter }: ValidatePorts,
): MaybePromise<Validated> {
  const { call, tool } = state;
  // Bytes come with the call, and not before it.
  const hasBody = entry.phase === "preview" ? tool.manifest.body !== undefined : call.body !== undefined;
  const validated = (input: Input): Validated => {
    recordInvoked(call, input.inputHash, log);
    holdInput(call, input, limiter);
    call.carry(inputPart, input.inputText);
    return call.reach({ ...state, ...input } as Validated);
  };
  const reading = readInput(state, entry.input, hasBody);
  return reading instanceof Promise ? reading.then(validated) : validated(reading);
}

/** Values count beside their text: a pair of brackets takes as much memory as a sentence. */
function holdInput(call: CallRecord, { inputBytes, inputNodes }: Input, limiter: ValidatePorts["limiter"]): void {
  const release = limiter.holdInput(call.caller, inputBytes + inputNodes * limits.valueBytes);
  if (!release) throw new CallFault("RATE_LIMITED", texts.inputsHeld);
  call.defer(release);
}

/** Also for a call that ends before: every call has a beginning on record. */
export function recordInvoked(call: CallRecord, inputHash: string | null, log: ValidatePorts["log"]): void {
  if (!call.invoke()) return;
  const { caller, correlationId, parent, progress, toolName } = call;
  log.record("call.invoked", call.scope, {
    tool: progress.tool?.id ?? toolName,
    caller,
    inputHash,
    correlationId,
    parentCallId: parent?.call.callId ?? null,
  });
}

type Of = Pick<Resolved, "call" | "tool">;
type Plain = Extract<Taken, { ok: true }>;

/** @throws CallFault, or rejects with it */
export function readInput(
  of: Of,
  foreign: unknown,
  hasBody: boolean = of.call.body !== undefined,
): MaybePromise<Input> {
  const plain = takeInput(of, foreign, hasBody);
  return plain.nodes > limits.turnNodes ? readLarge(of, plain) : writeInput(of, plain, checkInput(of, plain));
}

/** It is the caller's no more, so it is the same in each turn. */
async function readLarge(of: Of, plain: Plain): Promise<Input> {
  await yieldToEventLoop();
  const checked = checkInput(of, plain);
  await yieldToEventLoop();
  return writeInput(of, plain, checked);
}

function takeInput({ call, tool }: Of, foreign: unknown, hasBody: boolean): Plain {
  const wrong = bodyFault(call, tool, hasBody);
  if (wrong) throw new CallFault("INVALID_INPUT", wrong);
  const plain = snapshotInOrder(foreign, limits.ofValue);
  if (plain.ok) return plain;
  const { error } = plain;
  throw new CallFault("INVALID_INPUT", texts.notPlainInput(error));
}

/** As the tool's schema says. */
function checkInput({ tool }: Of, plain: Plain): Pick<Input, "input" | "targets"> {
  const valid = tool.input.validateOwn(plain.value);
  if (!valid.ok) throw new CallFault("INVALID_INPUT", texts.wrongInput(valid.errors));
  const input = valid.value as JsonValue;
  const read = targetsIn(input, tool.targets);
  const { own } = tool;
  if (read.ok) return { input, targets: own.length === 0 ? read.targets : [...own, ...read.targets] };
  const { fault } = read;
  throw new CallFault("INVALID_INPUT", texts.wrongTarget(fault));
}

function writeInput({ call }: Of, plain: Plain, { input, targets }: Pick<Input, "input" | "targets">): Input {
  const inputText = input === plain.value ? canonicalTextOf(plain) : canonicalJson(input);
  const { hash: inputHash, byteLength: inputBytes } = call.hash.measure(inputText);
  if (inputBytes <= limits.inputBytes)
    return { input, inputText, inputHash, inputBytes, inputNodes: plain.nodes, targets };
  throw new CallFault("INVALID_INPUT", texts.largeInput);
}

function bodyFault(
  { options }: CallRecord,
  { id, manifest }: Resolved["tool"],
  hasBody: boolean,
): FaultText | undefined {
  if (!hasBody) return manifest.body && texts.lacksBody(id);
  if (!manifest.body) return texts.takesNoBody(id);
  return options.idempotencyKey === undefined ? undefined : texts.keyWithBody;
}
