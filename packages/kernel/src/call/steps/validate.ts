import { present } from "../../support/guards.ts";
import type { EventRecorder } from "../../audit/log.ts";
import * as limits from "../../limits.ts";
import { bringExplanations } from "../../capability/registry.ts";
import { canonicalJson, canonicalTextOf } from "../../json/canonical-json.ts";
import type { JsonValue } from "../../json/json.ts";
import { snapshotInOrder } from "../../json/snapshot.ts";
import { type Target, targetsIn } from "../../tool/targets.ts";
import { errorDetails, explanation } from "../explanation.ts";
import { CallFault } from "../fault.ts";
import type { CarriedPart } from "../carried-part.ts";
import type { DecisionEntry } from "../entry.ts";
import type { CallRecord } from "../record.ts";
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
  /** The targets that its arguments name. */
  readonly targets: readonly Target[];
}

/** The input as its canonical text. */
export const inputPart: CarriedPart<string> = { name: "input" };

export interface ValidatePorts {
  readonly log: EventRecorder;
}

/** Step 2. */
export function validate(state: Resolved, entry: DecisionEntry, { log }: ValidatePorts): Validated {
  const { call, tool } = state;
  // Bytes come with the call, and not before it.
  const hasBody = entry.phase === "preview" ? tool.manifest.body !== undefined : call.body !== undefined;
  const input = readInput(state, entry.input, hasBody);
  recordInvoked(call, input.inputHash, log);
  call.carry(inputPart, input.inputText);
  return call.reach({ ...state, ...input } as Validated);
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

export function readInput(
  { call, tool }: Pick<Resolved, "call" | "tool">,
  foreign: unknown,
  hasBody: boolean = call.body !== undefined,
): Input {
  const fault = bodyFault(call, tool, hasBody);
  if (fault) throw new CallFault("INVALID_INPUT", fault);
  const plain = snapshotInOrder(foreign, { maxDepth: limits.depth, maxNodes: limits.nodes });
  if (!plain.ok)
    throw new CallFault("INVALID_INPUT", `The input is not plain JSON data: ${explanation(plain.error.message)}.`, {
      details: [{ path: explanation(plain.error.path), keyword: plain.error.reason }],
      hint: "Send JSON: objects, arrays, strings, finite numbers, booleans and null.",
    });
  const valid = tool.input.validateOwn(plain.value);
  if (!valid.ok) {
    const { message, hint, keyword } = present(valid.errors[0]);
    throw new CallFault("INVALID_INPUT", explanation(message), {
      details: valid.errors.map(errorDetails),
      ...(hint && { hint: explanation(hint) }),
      ...(keyword === "schema" && { operatorHint: bringExplanations }),
    });
  }
  const input = valid.value as JsonValue;
  const read = targetsIn(input, tool.targets);
  if (!read.ok) {
    const { at, message } = read.fault;
    throw new CallFault("INVALID_INPUT", explanation(message), {
      details: [{ path: explanation(at), keyword: "target" }],
    });
  }
  const inputText = input === plain.value ? canonicalTextOf(plain) : canonicalJson(input);
  const { hash: inputHash, byteLength: inputBytes } = call.hash.measure(inputText);
  if (inputBytes > limits.inputBytes) {
    const hint = "Send large data as a file.";
    throw new CallFault("INVALID_INPUT", `The input is larger than ${limits.inputBytes} bytes.`, { hint });
  }
  return { input, inputText, inputHash, inputBytes, targets: read.targets };
}

function bodyFault({ options }: CallRecord, { id, manifest }: Resolved["tool"], hasBody: boolean): string | undefined {
  if (!hasBody) return manifest.body && `${id} takes a body: the option \`body\`, over HTTP application/octet-stream.`;
  if (!manifest.body) return `${id} takes no body.`;
  return options.idempotencyKey && "Calls with a body cannot use an idempotency key.";
}
