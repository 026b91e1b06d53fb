import { present } from "../../support/guards.ts";
import type { IsolateOutput } from "../../isolate/port.ts";
import type { RunEnd } from "../../isolate/run.ts";
import * as limits from "../../limits.ts";
import { canonicalTextOf } from "../../json/canonical-json.ts";
import type { JsonValue } from "../../json/json.ts";
import { type Taken, takeJson } from "../../json/snapshot.ts";
import { yieldToEventLoop } from "../../support/yield-to-event-loop.ts";
import type { MaybePromise } from "../../support/maybe-promise.ts";
import type { Ran } from "./run.ts";
import type { Started } from "./start.ts";
import { chargeOutput } from "./own-access.ts";
import * as texts from "../faults/texts.ts";
import { notNormalizable, outputFault, refusalBehind, runFault, tooLarge } from "./run-faults.ts";

declare class Made {
  #validateOutput: never;
}
/** A call whose output keeps the tool's promise. */
export interface Checked extends Output, Made {
  readonly started: Started;
}

interface Output {
  readonly output: JsonValue | Uint8Array;
  /** The canonical text of an output that is JSON and was taken as it came. */
  readonly outputText?: string | undefined;
}

/** Step 9: the output as the contract says, or why there is none. Nothing to wait for but turns of the event loop, where an output has many values. */
export function validateOutput({ started, end }: Ran): MaybePromise<Checked> {
  warnOfUnproven(started);
  chargeOutput(started, end);
  if (end.kind !== "returned") {
    proveDenial(started, end);
    throw runFault(started, end);
  }
  const read = readOutput(end.output, started);
  return read.taken && read.taken.nodes > limits.turnNodes
    ? validateLarge(read.output, read.taken, started)
    : checked(read.output, read.taken && canonicalTextOf(read.taken), started);
}

async function validateLarge(output: JsonValue, taken: Json, started: Started): Promise<Checked> {
  await yieldToEventLoop();
  const outputText = canonicalTextOf(taken);
  await yieldToEventLoop();
  return checked(output, outputText, started);
}

function checked(output: Output["output"], outputText: string | undefined, started: Started): Checked {
  const { tool } = started;
  const valid = tool.output?.validateOwn(output);
  if (!valid || (valid.ok && valid.value === output)) return { started, output, outputText } as Checked;
  if (valid.ok) return { started, output: valid.value } as Checked;
  throw outputFault(started, "INVALID_OUTPUT", output, texts.brokenContract(tool.id, valid.errors));
}

/** A call that a refused request ended carries the proof of that, and not the one that allowed the call. */
function proveDenial({ call, gate, denials }: Started, end: RunEnd): void {
  const refusal = refusalBehind(end, gate);
  if (!refusal?.request || !refusal.reason) return;
  call.decided(denials.proofOf(refusal.request.kind, refusal.request.target, refusal.reason));
}

function warnOfUnproven({ call, denials }: Started): void {
  const unproven = denials.takeUnproven();
  if (unproven === 0) return;
  call.warn(`${unproven} refused requests have no proof of their own: one call has at most ${limits.provenDenials}.`);
}

type Json = Extract<Taken, { ok: true }>;

/** An output, and what is known of one that is JSON. */
type Read =
  | { readonly output: JsonValue; readonly taken: Json }
  | { readonly output: Output["output"]; readonly taken?: undefined };

/** Do not trust the isolate: the kernel parses its JSON and measures its sizes here. */
function readOutput(output: IsolateOutput, started: Started): Read {
  const { call, tool, bounds, flow } = started;
  const { kind, mediaType } = tool.manifest.output;
  const { form } = output;
  const content = form === "stream" ? undefined : form === "binary" ? output.bytes : output.text;
  if (form !== kind) throw outputFault(started, "INVALID_OUTPUT", content, texts.wrongForm(tool.id, form, kind));
  if (content === undefined) {
    if (!call.output) call.warn("The kernel discarded the output, because the call has no option `output`.");
    const { digest, byteLength } = present(flow);
    return { output: { digest, byteLength, ...(mediaType !== undefined && { mediaType }) } };
  }
  if (content.length > bounds.outputBytes) throw tooLarge(started, content, bounds.outputBytes);
  if (form !== "json") return { output: content };
  const taken = takeJson(output.text, limits.ofValue);
  if (!taken.ok) throw notNormalizable(started, content, taken.error);
  return { output: taken.value, taken };
}
