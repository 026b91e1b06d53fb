import { codeOfRefusal } from "../capability/refusals.ts";
import type { IsolateOutput } from "../isolate/port.ts";
import type { RunEnd } from "../isolate/run.ts";
import { limits } from "../limits.ts";
import { takeBytes } from "../normalize/take-bytes.ts";
import { canonicalTextOf } from "../normalize/canonical-json.ts";
import type { BodyFault } from "../isolate/body.ts";
import type { NormalizeReason } from "../normalize/error.ts";
import type { Digest } from "../normalize/hash.ts";
import {
  type CustomNormalizer,
  type NormalizationKind,
  type Normalized,
  normalize,
  normalized,
} from "../normalize/normalizer.ts";
import { takeJson } from "../normalize/snapshot.ts";
import type { JsonValue } from "../normalize/json.ts";
import type { ErrorCode } from "../result.ts";
import type { RegisteredTool } from "../tool/package.ts";
import { conforms, errorDetails, explanation } from "./admit.ts";
import { next, type Step, type Stop, stop, suspended } from "./call.ts";
import type { Started } from "./execute.ts";

/** An output that keeps the tool's promise. */
export interface Checked {
  readonly output: JsonValue | Uint8Array;
  /** The canonical text of an output that is JSON and was taken as it came. */
  readonly outputText?: string;
}

/** An output with its one normal form and digest. */
export interface Concluded {
  readonly output: JsonValue | Uint8Array;
  readonly hash: Digest;
  readonly outputBytes: number;
}

/** Step 9: the output as the contract says, or why there is none. */
export function validateOutput(state: Started, end: RunEnd): Step<Checked> {
  const { tool } = state;
  if (end.kind !== "returned") return failure(state, end);
  const read = readOutput(end.output, state);
  if (!read.ok) return read;
  const { output } = read.state;
  if (!tool.output || conforms(tool.output, output)) return read;
  const valid = tool.output.validate(output);
  if (valid.ok) return next({ output: valid.value as JsonValue });
  const [first] = valid.errors;
  return stop("INVALID_OUTPUT", `${tool.id} broke its output contract: ${explanation(first!.message)}`, {
    details: valid.errors.map(errorDetails),
    hint: "The fault is the tool's, not the caller's.",
  });
}

/** The isolate is foreign: what it calls JSON is parsed here, and what it calls small is measured here. */
function readOutput(output: IsolateOutput, { call, tool, bounds, flow }: Started): Step<Checked> {
  const { kind, mediaType } = tool.manifest.output;
  if (output.form !== kind)
    return stop("INVALID_OUTPUT", `${tool.id} returned ${output.form}, its contract says ${kind}.`);
  if (output.form === "stream") {
    if (!call.output) call.warnings.push("Nobody took the bytes: they go to the call's option `output`.");
    const { digest, byteLength } = flow!;
    return next({ output: { digest, byteLength, ...(mediaType !== undefined && { mediaType }) } });
  }
  const size = output.form === "binary" ? output.bytes.byteLength : output.text.length;
  if (size > bounds.outputBytes) return tooLarge(tool.id, bounds.outputBytes);
  if (output.form === "binary") return next({ output: output.bytes });
  if (output.form === "text") return next({ output: output.text });
  const taken = takeJson(output.text, { maxDepth: limits.depth, maxNodes: limits.nodes });
  if (!taken.ok) return notNormalizable(tool.id, taken.error.reason, taken.error.path);
  return next({ output: taken.value, outputText: canonicalTextOf(taken) });
}

/** Step 10. Nothing to wait for but many bytes; until they are hashed the call can still be ended. */
export function normalizeOutput(
  state: Started,
  { output, outputText }: Checked,
): Step<Concluded> | Promise<Step<Concluded>> {
  const { call, tool, bounds, flow } = state;
  const { kind } = tool.manifest.output;
  if (kind === "stream") return next({ output, hash: flow!.digest, outputBytes: flow!.byteLength });
  if (tool.normalizer) return normalizeBy(tool.normalizer, kind, output, state);
  if (output instanceof Uint8Array) return takeOutput(state, output);
  const normal: Normalized =
    outputText === undefined ? normalize(kind, output, call.hash) : normalized(outputText, call.hash);
  if (!normal.ok) return notNormalizable(tool.id, normal.error.reason, normal.error.path);
  if (normal.byteLength > bounds.outputBytes) return tooLarge(tool.id, bounds.outputBytes);
  const normalOutput = kind === "text" ? (normal.text ?? "") : output;
  return next({ output: normalOutput, hash: normal.hash, outputBytes: normal.byteLength });
}

/** Bytes have no other form, and are nobody else's: no copy of them. */
function takeOutput(state: Started, output: Uint8Array): Step<Concluded> | Promise<Step<Concluded>> {
  const { call, deadline } = state;
  const ends = [call.options.signal, call.parent?.ended];
  const isOver = (): boolean => deadline.leftMs <= 0 || ends.some((end) => end?.aborted);
  const taking = takeBytes(output, call.hash, isOver, output);
  const concluded = (taken: Awaited<typeof taking>): Step<Concluded> =>
    taken
      ? next({ output, hash: taken.digest, outputBytes: output.length })
      : failure(state, { kind: deadline.leftMs > 0 ? "cancelled" : "timed-out" });
  return taking instanceof Promise ? taking.then(concluded) : concluded(taking);
}

/** In the embedding program's own form, which has to keep the tool's promise as well. */
function normalizeBy(
  { id, apply }: CustomNormalizer,
  kind: NormalizationKind,
  given: Checked["output"],
  { tool, bounds, call }: Started,
): Step<Concluded> {
  const refused = (reason: NormalizeReason, path = ""): Stop =>
    stop("NOT_NORMALIZABLE", `The normalizer ${id} has no normal form for what ${tool.id} returned: ${reason}.`, {
      details: { reason, path, normalizer: id },
      hint: "The fault is the normalizer's, or the output is not what it was made for.",
    });
  const normal = apply(kind, given, call.hash);
  if (!normal.ok) return refused(normal.error.reason, normal.error.path);
  if (normal.byteLength > bounds.outputBytes) return refused("too-large");
  const text = normal.text ?? "";
  const output = normal.bytes ?? (kind === "json" ? (JSON.parse(text) as JsonValue) : text);
  if (tool.output && !tool.output.check(output)) return refused("breaks-contract");
  return next({ output, hash: normal.hash, outputBytes: normal.byteLength });
}

/** What the log says of it. */
export function normalizerOf({ normalizer }: RegisteredTool): { readonly normalizer?: string } {
  return normalizer ? { normalizer: normalizer.id } : {};
}

/** Also of a result that another call got. */
export function tooLarge(toolId: string, limit: number): Stop {
  return stop("BOUNDS_EXCEEDED", `${toolId} returned more than ${limit} bytes.`, {
    details: { bound: "outputBytes", limit },
    hint: "Ask for less, or raise bounds.outputBytes.",
  });
}

function notNormalizable(toolId: string, reason: string, path: string): Stop {
  const place = path === "" ? "" : ` at ${path.slice(0, 200)}`;
  const what =
    reason === "syntax"
      ? "text that is not JSON"
      : reason === "detached"
        ? "bytes whose buffer is gone"
        : `something that is not plain data: ${reason}`;
  return stop("NOT_NORMALIZABLE", `${toolId} returned ${what}${place}.`, {
    details: { reason, path: explanation(path) },
    hint: "The fault is the tool's, not the caller's.",
  });
}

/** Why a run gave no output. */
function failure({ tool, gate, bounds, body }: Started, end: Exclude<RunEnd, { kind: "returned" }>): Stop {
  switch (end.kind) {
    case "refused":
      return stop("INVALID_INPUT", `${tool.id} refused the input: ${end.message}`);
    case "threw": {
      const refusal = gate.counts.lastRefusal;
      // A tool may claim any code; it is believed only of a refusal that it was really given.
      if (refusal && refusal.code === end.code) {
        return stop(codeOfRefusal[refusal.code], refusal.message, {
          hint: refusal.hint,
          retryable: refusal.code === "UNAVAILABLE",
        });
      }
      return stop("TOOL_ERROR", end.message || `${tool.id} threw without a message.`, {
        details: { name: end.name },
        hint:
          end.name === "ReferenceError" ? "A tool has no globals of its host; `execute` gets a context instead." : "",
      });
    }
    case "unnormalizable":
      return notNormalizable(tool.id, end.reason, end.path);
    case "too-large":
      return tooMuch[end.what](tool.id, end.limit);
    case "out-of-memory":
      return usedUp("OUT_OF_MEMORY", tool.id, "memoryBytes", end.limit ?? bounds.memoryBytes);
    case "out-of-fuel":
      return usedUp("OUT_OF_FUEL", tool.id, "fuel", end.limit ?? bounds.fuel);
    case "lost":
      return stop("ISOLATE_LOST", `The isolate of ${tool.id} was lost: ${end.reason}.`, {
        retryable: true,
        hint: "The next call gets a new isolate.",
      });
    case "timed-out":
      return stop("TIMEOUT", timeoutText(tool.id, bounds.timeoutMs, end.opening === true), {
        details: { timeoutMs: bounds.timeoutMs },
        retryable: tool.manifest.idempotent === true,
      });
    case "cancelled":
      return stop("CANCELLED", "The caller cancelled the call.");
    case "bad-body":
      return badBody(body!.fault!, bounds.bodyBytes);
    case "suspended":
      return suspended;
    case "not-opened":
      return stop(end.failure.code, end.failure.message, {
        hint: end.failure.hint,
        retryable: end.failure.code === "ISOLATE_LOST",
      });
  }
}

function timeoutText(tool: string, timeoutMs: number, opening: boolean): string {
  return opening
    ? `${tool} did not start within ${timeoutMs} ms: no isolate was ready for it.`
    : `${tool} did not finish within ${timeoutMs} ms and was stopped.`;
}

/** The fault is the caller's, whatever the tool made of it. */
function badBody({ reason, message = "" }: BodyFault, limit: number): Stop {
  switch (reason) {
    case "too-large":
      return stop("BOUNDS_EXCEEDED", `The body has more than ${limit} bytes.`, {
        details: { bound: "bodyBytes", limit },
      });
    case "not-bytes":
      return stop("INVALID_INPUT", "The body's stream gives something that is no Uint8Array with bytes in it.");
    case "failed":
      return stop("CANCELLED", `The caller's body broke off: ${explanation(message)}`);
  }
}

function usedUp(code: ErrorCode, toolId: string, bound: "fuel" | "memoryBytes", limit: number | undefined): Stop {
  const amount = limit === undefined ? "" : ` of ${limit}`;
  return stop(code, `${toolId} used up its ${bound}${amount}.`, {
    ...(limit !== undefined && { details: { bound, limit } }),
    hint: `Ask for less, or raise bounds.${bound}.`,
  });
}

const tooMuch = {
  output: tooLarge,
  messages: (toolId, limit) =>
    stop("BOUNDS_EXCEEDED", `${toolId} sent more than ${limit} messages.`, { details: { bound: "messages", limit } }),
  stack: (toolId, limit) =>
    stop("BOUNDS_EXCEEDED", `The calls of ${toolId} nest too deeply: its stack has ${limit} bytes.`, {
      details: { bound: "stack", limit },
      hint: "The fault is the tool's: a recursion without an end, or on too deep an input.",
    }),
} satisfies Record<Extract<RunEnd, { kind: "too-large" }>["what"], (toolId: string, limit: number) => Stop>;
