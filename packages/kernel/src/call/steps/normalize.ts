import { present } from "../../support/guards.ts";
import type { Digest, Hash } from "../../hash/hash.ts";
import type { NormalizeReason } from "../../json/normalize-error.ts";
import { type JsonValue, parseOwnJson } from "../../json/json.ts";
import {
  type CustomNormalizer,
  type NormalizationKind,
  type Normalized as NormalForm,
  normalize as normalForm,
  normalized,
} from "../../normalize/normalizer.ts";
import { copyAndHash } from "../../hash/copy-and-hash.ts";
import { CallFault } from "../faults/fault.ts";
import * as texts from "../faults/texts.ts";
import type { MaybePromise } from "../../support/maybe-promise.ts";
import { notNormalizable, runFault, tooLarge } from "./run-faults.ts";
import type { Started } from "./start.ts";
import type { Checked } from "./validate-output.ts";

declare class Made {
  #normalize: never;
}
/** A call whose output has its one normal form and digest. */
export interface Normalized extends Made {
  readonly started: Started;
  readonly output: JsonValue | Uint8Array;
  readonly outputHash: Digest;
  readonly outputBytes: number;
  /** The output before its normalizer, where its caller asked for it and it differs. */
  readonly raw?: JsonValue | Uint8Array;
}

type Form = Pick<Normalized, "output" | "outputHash" | "outputBytes" | "raw">;

/** Step 10. Nothing to wait for but many bytes; until they are hashed the call can still be ended. */
export function normalize(state: Checked): MaybePromise<Normalized> {
  const form = formOf(state);
  const { started } = state;
  const normalizedAs = ({ output, outputHash, outputBytes, raw }: Form): Normalized =>
    ({ started, output, outputHash, outputBytes, ...(raw !== undefined && { raw }) }) as Normalized;
  return form instanceof Promise ? form.then(normalizedAs) : normalizedAs(form);
}

function formOf({ started, output, outputText }: Checked): MaybePromise<Form> {
  const { call, tool, bounds, flow } = started;
  const { kind } = tool.manifest.output;
  if (kind === "stream") {
    const { digest, byteLength } = present(flow);
    return { output, outputHash: digest, outputBytes: byteLength };
  }
  if (tool.normalizer) return normalizeBy(tool.normalizer, kind, output, started);
  if (output instanceof Uint8Array) return takeOutput(started, output);
  const normal: NormalForm =
    outputText === undefined ? normalForm(kind, output, call.hash) : normalized(outputText, call.hash);
  if (!normal.ok) throw notNormalizable(started, output, normal.error);
  if (normal.byteLength > bounds.outputBytes) throw tooLarge(started, output, bounds.outputBytes);
  const normalOutput = kind === "text" ? (normal.text ?? "") : output;
  const raw = call.options.raw === true && normalOutput !== output ? { raw: output } : {};
  return { output: normalOutput, outputHash: normal.hash, outputBytes: normal.byteLength, ...raw };
}

/** Bytes have no other form, and no other owner: the kernel makes no copy. */
function takeOutput(state: Started, output: Uint8Array): MaybePromise<Form> {
  const { call, deadline } = state;
  const ends = [call.options.signal, call.parent?.ended];
  const isOver = (): boolean => deadline.leftMs <= 0 || ends.some((end) => end?.aborted);
  const taking = copyAndHash(output, call.hash, isOver, output);
  const form = (taken: Awaited<typeof taking>): Form => {
    if (taken) return { output, outputHash: taken.digest, outputBytes: output.length };
    throw runFault(state, { kind: deadline.leftMs > 0 ? "cancelled" : "timed-out" });
  };
  return taking instanceof Promise ? taking.then(form) : form(taking);
}

/** In the embedding program's own form, which has to keep the tool's promise as well. */
function normalizeBy(
  { id, apply }: CustomNormalizer,
  kind: NormalizationKind,
  given: Checked["output"],
  { tool, bounds, call }: Started,
): Form {
  const refused = (reason: NormalizeReason, path = ""): CallFault =>
    new CallFault("NOT_NORMALIZABLE", texts.normalizerRefused(tool.id, id, reason, path));
  const normal = apply(kind, given, call.hash);
  if (!normal.ok) throw refused(normal.error.reason, normal.error.path);
  if (normal.byteLength > bounds.outputBytes) throw refused("too-large");
  const text = normal.text ?? "";
  const output = normal.bytes ?? (kind === "json" ? parseOwnJson(text) : text);
  if (tool.output && !tool.output.check(output)) throw refused("breaks-contract");
  const raw = call.options.raw === true && !isSame(kind, given, normal, call.hash) ? { raw: given } : {};
  return { output, outputHash: normal.hash, outputBytes: normal.byteLength, ...raw };
}

/** Whether an output already was in the normal form: then its own digest in the built-in form is the same. */
function isSame(kind: NormalizationKind, given: Checked["output"], { hash }: { hash: Digest }, by: Hash): boolean {
  if (kind === "text") return typeof given === "string" && by.measure(given).hash === hash;
  const own = normalForm(kind, given, by);
  return own.ok && own.hash === hash;
}
