import * as limits from "../limits.ts";
import type { IsolateOutcome } from "../isolate/port.ts";
import { canonicalize } from "../json/canonical-json.ts";
import type { GuestCall } from "./call.ts";
import { previewOf } from "./preview.ts";
import { boundedMessage } from "./thrown.ts";

type WholeKind = Exclude<GuestCall["outputKind"], "stream">;

/**
 * Reads the result of a tool once, inside the isolate, and turns it into the form in which it
 * crosses: canonical JSON, text or bytes. Hostile values (getters, proxies, cycles, size) cost only
 * the tool itself here. What cannot cross leaves its start as text.
 */
export function outputOf(value: unknown, call: OutputOptions): IsolateOutcome {
  const outcome = formed(value, call);
  return outcome.kind === "returned" ? outcome : { ...outcome, unchecked: previewOf(value) };
}

type OutputOptions = Pick<GuestCall, "outputBytes" | "outputTransfer"> & { readonly outputKind: WholeKind };
type Formed = Extract<IsolateOutcome, { kind: "returned" | "unnormalizable" | "too-large" }>;

function formed(value: unknown, { outputKind, outputBytes, outputTransfer }: OutputOptions): Formed {
  switch (outputKind) {
    case "json":
      return jsonOutput(value, outputBytes);
    case "text":
      return textOutput(value, outputBytes);
    case "binary":
      return binaryOutput(value, outputBytes, outputTransfer);
  }
}

function jsonOutput(value: unknown, limit: number): Formed {
  // Quoted it is longer still: no need to write it out to know.
  if (typeof value === "string" && value.length > limit) return tooLarge(limit);
  // The kernel's own limits: a larger value would fill this isolate's memory, and the kernel would refuse it.
  // A function without a `return` gives nothing, and what it did before is done.
  const result = canonicalize(value ?? null, limits.depth, limits.nodes);
  if (!result.ok) return unnormalizable(result.error.reason, result.error.path);
  if (exceedsUtf8(result.text, limit)) return tooLarge(limit);
  return { kind: "returned", output: { form: "json", text: result.text } };
}

function textOutput(value: unknown, limit: number): Formed {
  if (typeof value !== "string") return unnormalizable("not-text", "");
  if (exceedsUtf8(value, limit)) return tooLarge(limit);
  if (!value.isWellFormed()) return unnormalizable("lone-surrogate", "");
  return { kind: "returned", output: { form: "text", text: value } };
}

function binaryOutput(value: unknown, limit: number, transfer: boolean | undefined): Formed {
  // A Proxy of bytes is an instance of them, and no view.
  if (!(value instanceof Uint8Array) || !ArrayBuffer.isView(value)) return unnormalizable("not-bytes", "");
  if (value.byteLength > limit) return tooLarge(limit);
  if (isDetached(value)) return unnormalizable("detached", "");
  return { kind: "returned", output: { form: "binary", bytes: leaving(value, transfer) } };
}

/** Bytes that can leave with their buffer: a copy, unless the tool transfers its own. */
function leaving(bytes: Uint8Array, transfer: boolean | undefined): Uint8Array {
  const buffer = bytes.buffer as ArrayBuffer;
  try {
    if (transfer && buffer.byteLength === bytes.byteLength) return new Uint8Array(buffer.transferToFixedLength());
  } catch {
    // It is shared, or the memory of a WebAssembly module: not the tool's to give away.
  }
  return new Uint8Array(bytes);
}

/**
 * Whether its memory is gone, transferred or shrunk away. Such an array reports no bytes, like an
 * empty one.
 */
export function isDetached(bytes: Uint8Array): boolean {
  try {
    bytes.keys();
    return false;
  } catch {
    return true;
  }
}

/** A UTF-16 unit takes one to three bytes, so that most texts are decided by their length. */
function exceedsUtf8(text: string, limit: number): boolean {
  if (text.length > limit) return true;
  if (text.length * 3 <= limit) return false;
  return new TextEncoder().encode(text).byteLength > limit;
}

export function unnormalizable(reason: string, path: string): Formed {
  return { kind: "unnormalizable", reason, path: boundedMessage(path) };
}

export function tooLarge(limit: number): Formed {
  return { kind: "too-large", what: "output", limit };
}
