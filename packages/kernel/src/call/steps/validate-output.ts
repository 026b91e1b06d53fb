import { present } from "../../support/guards.ts";
import type { IsolateOutput } from "../../isolate/port.ts";
import type { RunEnd } from "../../isolate/run.ts";
import * as limits from "../../limits.ts";
import { canonicalTextOf } from "../../json/canonical-json.ts";
import type { JsonValue } from "../../json/json.ts";
import { takeJson } from "../../json/snapshot.ts";
import { errorDetails, explanation } from "../explanation.ts";
import { CallFault } from "../fault.ts";
import type { Ran } from "./run.ts";
import type { Started } from "./start.ts";
import { notNormalizable, refusalBehind, runFault, tooLarge } from "./run-faults.ts";

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

/** Step 9: the output as the contract says, or why there is none. */
export function validateOutput({ started, end }: Ran): Checked {
  const { tool } = started;
  warnOfUnproven(started);
  if (end.kind !== "returned") {
    proveDenial(started, end);
    throw runFault(started, end);
  }
  const { output, outputText } = readOutput(end.output, started);
  const valid = tool.output?.validateOwn(output);
  if (!valid || (valid.ok && valid.value === output)) return { started, output, outputText } as Checked;
  if (valid.ok) return { started, output: valid.value } as Checked;
  const [first] = valid.errors;
  throw new CallFault(
    "INVALID_OUTPUT",
    `${tool.id} broke its output contract: ${explanation(present(first).message)}`,
    {
      details: valid.errors.map(errorDetails),
    },
  );
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

/** The isolate is foreign: what it calls JSON is parsed here, and what it calls small is measured here. */
function readOutput(output: IsolateOutput, { call, tool, bounds, flow }: Started): Output {
  const { kind, mediaType } = tool.manifest.output;
  if (output.form !== kind)
    throw new CallFault("INVALID_OUTPUT", `${tool.id} returned ${output.form}, its contract says ${kind}.`);
  if (output.form === "stream") {
    if (!call.output) call.warn("The output was discarded, because the call has no option `output`.");
    const { digest, byteLength } = present(flow);
    return { output: { digest, byteLength, ...(mediaType !== undefined && { mediaType }) } };
  }
  const size = output.form === "binary" ? output.bytes.byteLength : output.text.length;
  if (size > bounds.outputBytes) throw tooLarge(tool.id, bounds.outputBytes);
  if (output.form === "binary") return { output: output.bytes };
  if (output.form === "text") return { output: output.text };
  const taken = takeJson(output.text, { maxDepth: limits.depth, maxNodes: limits.nodes });
  if (!taken.ok) throw notNormalizable(tool.id, taken.error.reason, taken.error.path);
  return { output: taken.value, outputText: canonicalTextOf(taken) };
}
