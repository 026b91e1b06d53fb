import { isSafeInteger } from "../../support/guards.ts";
import type { JsonObject } from "../../json/json.ts";
import type { CallError, CallSuccess, ErrorCode, ModelError } from "../../result.ts";
import type { ToolManifest } from "../../tool/manifest.ts";
import { type KeptResults, readResultName, type ResultPart } from "./kept-results.ts";

type AuthorityOfProof = Pick<CallSuccess["proof"], "policyHash" | "grantHash">;

/** The call that gave an output. */
export interface OutputSource {
  readonly callId: string;
  /** Of its proof: the grants and the policy that decided about its requests. Absent where the kernel gave none. */
  readonly proof?: AuthorityOfProof | undefined;
  /** Kinds that the call used. Absent where they are unknown: then each revoked kind counts. */
  readonly effects?: readonly string[] | undefined;
  /** Whether the tool calls others, whose kinds are not among {@link effects}. */
  readonly mayCall?: boolean | undefined;
  /** Whether the kernel would allow the call now. */
  preview(): Promise<
    {
      readonly proof?: AuthorityOfProof | undefined;
      readonly revoked?: readonly string[] | undefined;
    } & ({ readonly decision: "allow" | "ask" } | { readonly decision: "deny"; readonly error: CallError })
  >;
}

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
  kept: KeptResults<OutputSource>,
  given: unknown,
  answerBytes: number,
): Promise<ReadAnswer> {
  const part = partOf(given);
  if (!part)
    return failed("INVALID_INPUT", "The arguments are not a hash, an offset and a text to find.", "Correct them.");
  const source = kept.sourceOf(part.hash);
  if (!source) return failed("INVALID_INPUT", "The store has no output with this hash.", "Call the tool again.");
  const preview = await source.preview();
  // An output that was given once does not count against a rate again.
  if (preview.decision === "deny" && preview.error.code !== "RATE_LIMITED") {
    const { code, message, hint } = preview.error;
    return failed(code, message, hint, source.callId);
  }
  const gone = revokedOf(source, preview.revoked ?? []);
  if (gone.length > 0)
    return failed(
      "CAPABILITY_DENIED",
      `The grant of ${gone.join(", ")} was revoked.`,
      "Use another tool.",
      source.callId,
    );
  if (!areEqual(source.proof, preview.proof))
    return failed("INVALID_INPUT", otherPolicy, "Call the tool again.", source.callId);
  const text = kept.read(part, answerBytes);
  if (text === undefined)
    return failed("INVALID_INPUT", "The store has no output with this hash.", "Call the tool again.");
  return { ok: true, data: JSON.parse(text) as JsonObject, hash: part.hash, callId: source.callId, text };
}

function revokedOf({ effects, mayCall }: OutputSource, revoked: readonly string[]): readonly string[] {
  return effects === undefined || mayCall === true ? revoked : revoked.filter((kind) => effects.includes(kind));
}

/** No record of the call's requests exists, so another policy cannot decide about them. */
const otherPolicy = "The output was made under another policy.";

function areEqual(one: AuthorityOfProof | undefined, other: AuthorityOfProof | undefined): boolean {
  return one?.policyHash === other?.policyHash && one?.grantHash === other?.grantHash;
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

function failed(code: ErrorCode, message: string, hint: string, callId = ""): ReadAnswer {
  const error: ModelError = { code, message, details: {}, retryable: false, hint };
  return { ok: false, error, callId, text: JSON.stringify({ error }) };
}
