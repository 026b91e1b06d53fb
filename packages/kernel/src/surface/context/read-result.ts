import { isSafeInteger } from "../../support/guards.ts";
import type { JsonObject } from "../../json/json.ts";
import type { ModelError } from "../../result.ts";
import type { ToolManifest } from "../../tool/manifest.ts";
import type { HeldOutput } from "./held-output.ts";
import { type KeptResults, readResultName, type ResultPart } from "./kept-results.ts";

const input = {
  type: "object",
  properties: {
    hash: { type: "string", description: "The hash in the answer that was cut." },
    offset: {
      type: "integer",
      minimum: 0,
      default: 0,
      description: "Where to begin, in bytes: `next` of the part before.",
    },
    find: { type: "string", minLength: 1, maxLength: 1000, description: "Begin at this text, at or after the offset." },
  },
  required: ["hash"],
  additionalProperties: false,
} as const;

/** The tool with which a model reads on in outputs that were cut. It only reads what a call has given; the kernel records that call. */
export const readResultManifest: ToolManifest = {
  name: readResultName,
  version: "1.0.0",
  description: "Reads on in an output that was too long for its answer. Gives a part, and where the next part begins.",
  effects: [],
  determinism: "external",
  tier: 0,
  source: "inline",
  capabilities: [],
  bounds: {},
  input,
  output: { kind: "json" },
};

/** A part of an output, or the reason why there is none. `text` is what a model reads of it. */
export type ReadAnswer =
  | {
      readonly ok: true;
      readonly data: JsonObject;
      readonly hash: string;
      readonly callId: string;
      readonly text: string;
    }
  | { readonly ok: false; readonly error: ModelError; readonly callId: string; readonly text: string };

/** Reads a part, where the kernel would allow the call that gave the output: LOCKDOWN, a new policy and a revocation end the reading. */
export async function readResult(
  kept: KeptResults<HeldOutput<unknown>>,
  given: unknown,
  answerBytes: number,
): Promise<ReadAnswer> {
  const part = partOf(given);
  if (!part)
    return failed("INVALID_INPUT", "The arguments are not a hash, an offset and a text to find.", "Correct them.");
  const source = kept.sourceOf(part.hash);
  if (!source) return failed("INVALID_INPUT", "The store has no output with this hash.", "Call the tool again.");
  const { callId } = source;
  const opened = await source.open();
  if (!opened.ok) return { ...opened, callId, text: JSON.stringify({ error: opened.error }) };
  const text = kept.read(part, answerBytes);
  if (text === undefined)
    return failed("INVALID_INPUT", "The store has no output with this hash.", "Call the tool again.");
  return { ok: true, data: JSON.parse(text) as JsonObject, hash: part.hash, callId, text };
}

function partOf(given: unknown): ResultPart | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  const { hash, offset = 0, find, ...more } = given as Readonly<Record<string, unknown>>;
  if (typeof hash !== "string" || !isSafeInteger(offset) || offset < 0) return undefined;
  if (Object.keys(more).length > 0) return undefined;
  if (find === undefined) return { hash, offset };
  if (typeof find !== "string" || find === "" || find.length > 1000) return undefined;
  return { hash, offset, find };
}

function failed(code: "INVALID_INPUT", message: string, hint: string): ReadAnswer {
  const error: ModelError = { code, message, details: {}, retryable: false, hint };
  return { ok: false, error, callId: "", text: JSON.stringify({ error }) };
}
