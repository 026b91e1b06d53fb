import type { Effect } from "../capability/capability.ts";
import { canonicalJson } from "../normalize/canonical-json.ts";
import type { Digest } from "../normalize/hash.ts";
import type { JsonValue } from "../normalize/json.ts";
import type { CallResult } from "../result.ts";
import type { RegisteredTool } from "../tool/package.ts";
import type { Stop } from "./call.ts";
import type { Concluded } from "./conclude.ts";

/** How a call ended, for other calls that are given the same. Nobody outside holds any of it. */
export interface Ending {
  readonly callId: string;
  /** Whether the tool ran, or may have. */
  readonly hasStarted: boolean;
  readonly effects: readonly Effect[];
  readonly outcome: { readonly ok: true; readonly output: KeptOutput } | { readonly ok: false; readonly why: Stop };
}

/** An output in its normal form: JSON as its text, bytes as a copy. */
export interface KeptOutput {
  readonly form: "json" | "text" | "binary";
  readonly content: string | Uint8Array;
  readonly hash: Digest;
  readonly outputBytes: number;
}

/** @param why What ended a call that gave no result. */
export function endingOf(
  { callId, effects }: CallResult,
  hasStarted: boolean,
  end: KeptOutput | { readonly why: Stop },
): Ending {
  if ("why" in end) return { callId, hasStarted, effects, outcome: { ok: false, why: end.why } };
  return { callId, hasStarted, effects, outcome: { ok: true, output: end } };
}

export function keptOf({ manifest }: RegisteredTool, { output, hash, outputBytes }: Concluded): KeptOutput {
  const { kind } = manifest.output;
  // Of a stream only the reference is there, which is JSON.
  const form = kind === "stream" ? "json" : kind;
  const isText = form === "text" && typeof output === "string";
  const content = output instanceof Uint8Array ? new Uint8Array(output) : isText ? output : canonicalJson(output);
  return { form, content, hash, outputBytes };
}

/** A copy: whoever gets it may change it. */
export function dataOf({ form, content }: KeptOutput): JsonValue | Uint8Array {
  if (typeof content !== "string") return new Uint8Array(content);
  return form === "json" ? (JSON.parse(content) as JsonValue) : content;
}

/** What the other call ends with, or `undefined` if `cancel` aborts before. */
export function waitFor(ending: Promise<Ending>, cancel: AbortSignal | undefined): Promise<Ending | undefined> {
  if (!cancel) return ending;
  if (cancel.aborted) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const leave = (): void => resolve(undefined);
    cancel.addEventListener("abort", leave, { once: true });
    void ending.then((ended) => {
      cancel.removeEventListener("abort", leave);
      resolve(ended);
    });
  });
}
