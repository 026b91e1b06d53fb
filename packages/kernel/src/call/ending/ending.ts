import { canonicalJson } from "../../json/canonical-json.ts";
import type { Digest } from "../../hash/hash.ts";
import { type JsonValue, parseOwnJson } from "../../json/json.ts";
import type { RegisteredTool } from "../../tool/package.ts";
import type { CallFault } from "../faults/fault.ts";
import type { Origin } from "../record/origin.ts";

type Outcome = { readonly ok: true; readonly output: KeptOutput } | { readonly ok: false; readonly fault: CallFault };

/** An output in its normal form: JSON as its text, bytes as a copy. */
export interface KeptOutput {
  readonly form: "json" | "text" | "binary";
  readonly content: string | Uint8Array;
  readonly hash: Digest;
  readonly outputBytes: number;
}

/**
 * The outcome of a call, which other calls can reuse. No code outside the kernel holds a part of
 * it.
 *
 * An ending crosses into extensions and comes back, so its brand holds at run time as well: it is a
 * class with a private field, and its constructor is not exported.
 */
class KernelEnding {
  readonly callId: string;
  /** Whether the tool ran, or may have. */
  readonly hasStarted: boolean;
  readonly effects: readonly string[];
  readonly outcome: Outcome;
  /** The requests and labels behind the outcome. */
  readonly origin: Origin;
  readonly #made = true;

  constructor(callId: string, hasStarted: boolean, effects: readonly string[], outcome: Outcome, origin: Origin) {
    this.callId = callId;
    this.hasStarted = hasStarted;
    this.effects = effects;
    this.outcome = outcome;
    this.origin = origin;
  }

  static made(value: object): value is KernelEnding {
    return #made in value && value.#made;
  }

  get wasCancelled(): boolean {
    return !this.outcome.ok && this.outcome.fault.code === "CANCELLED";
  }

  /** The same for a call that asks again: a failure stays, with another hint. */
  repeated(hint: string): KernelEnding {
    if (this.outcome.ok) return this;
    const fault = this.outcome.fault.repeated(hint);
    return new KernelEnding(this.callId, this.hasStarted, this.effects, { ok: false, fault }, this.origin);
  }
}
export type Ending = KernelEnding;

export function isEnding(value: object): value is Ending {
  return KernelEnding.made(value);
}

/** For `steps/conclude.ts` alone; a test holds that no other module imports it. */
export function endingOf(
  { callId, origin }: { readonly callId: string; readonly origin: Origin },
  hasStarted: boolean,
  effects: readonly string[],
  outcome: Outcome,
): Ending {
  return new KernelEnding(callId, hasStarted, effects, outcome, origin);
}

export function keptOutput(
  { manifest }: RegisteredTool,
  output: JsonValue | Uint8Array,
  hash: Digest,
  outputBytes: number,
): KeptOutput {
  const { kind } = manifest.output;
  // Of a stream only the reference is there, which is JSON.
  const form = kind === "stream" ? "json" : kind;
  const isText = form === "text" && typeof output === "string";
  const content = output instanceof Uint8Array ? new Uint8Array(output) : isText ? output : canonicalJson(output);
  return { form, content, hash, outputBytes };
}

/** A copy: its caller may change it. */
export function dataOf({ form, content }: KeptOutput): JsonValue | Uint8Array {
  if (typeof content !== "string") return new Uint8Array(content);
  return form === "json" ? parseOwnJson(content) : content;
}
