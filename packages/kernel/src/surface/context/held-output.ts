import type { CallError, CallSuccess, ErrorCode, ModelError } from "../../result.ts";
import { changesWorld } from "../../tool/manifest.ts";
import { isStricter } from "../../tool/modes.ts";
import type { JsonValue } from "../../json/json.ts";
import type { HeldInput } from "./held-input.ts";

type Proof = CallSuccess["proof"];
type AuthorityOfProof = Pick<Proof, "policyHash" | "grantHash"> & Partial<Pick<Proof, "mode">>;

/** The part of a preview that decides about an output. A `Preview` has it. */
export type OutputPreview = {
  readonly proof?: AuthorityOfProof | undefined;
  readonly revoked?: readonly string[] | undefined;
} & ({ readonly decision: "allow" | "ask" } | { readonly decision: "deny"; readonly error: CallError });

/** The call that gave an output. `Reader` is the reader's identity, where it can differ from the caller's. */
export interface OutputSource<Reader = void> {
  readonly callId: string;
  /** Of its proof: the grants and the policy that decided about its requests. Absent where the kernel gave none. */
  readonly proof?: AuthorityOfProof | undefined;
  /** Kinds that the call used. Absent where they are unknown: then each revoked kind counts. */
  readonly effects?: readonly string[] | undefined;
  /** Whether the tool calls others: a revoked kind of theirs can be one without an effect. */
  readonly mayCall?: boolean | undefined;
  readonly input: HeldInput;
  /** Whether the kernel would allow the call now. It gets the input: what a closure holds, no store counts. */
  preview(input: JsonValue, reader: Reader): Promise<OutputPreview>;
}

/** Of a call: its proof, its kinds and its ids. */
const SOURCE_BYTES = 1_024;

/** A value, or the reason of its refusal. */
export type OpenedOutput<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: ModelError };

/**
 * The output of a call for a reader who comes later: a link, a result without a client, an answer to a second question. Each opening asks the kernel
 * whether it would allow the call now, so LOCKDOWN, a new policy and a revocation end the reading.
 */
export class HeldOutput<Value, Reader = void> {
  /** All that it holds, for the store that has it. */
  readonly bytes: number;
  readonly #value: Value;
  readonly #source: OutputSource<Reader>;

  constructor(value: Value, valueBytes: number, source: OutputSource<Reader>) {
    this.bytes = valueBytes + source.input.bytes + SOURCE_BYTES;
    this.#value = value;
    this.#source = source;
  }

  get callId(): string {
    return this.#source.callId;
  }

  async open(reader: Reader): Promise<OpenedOutput<Value>> {
    const error = await refusalNow(this.#source, reader);
    return error ? { ok: false, error } : { ok: true, value: this.#value };
  }
}

/** Why an output is not given any more; `undefined` where it is. */
async function refusalNow<Reader>(source: OutputSource<Reader>, reader: Reader): Promise<ModelError | undefined> {
  const preview = await source.preview(source.input.read(), reader);
  // A second reading of one output does not count against a rate.
  if (preview.decision === "deny" && preview.error.code !== "RATE_LIMITED") {
    const { code, message, hint } = preview.error;
    return refused(code, message, hint);
  }
  const gone = revokedOf(source, preview.revoked ?? []);
  if (gone.length > 0)
    return refused("CAPABILITY_DENIED", `The grant of ${gone.join(", ")} was revoked.`, "Use another tool.");
  // No record of the call's requests exists, so another policy cannot decide about them.
  if (!areEqual(source.proof, preview.proof))
    return refused("INVALID_INPUT", "The output comes from another policy.", againHint(source));
  if (preview.decision === "ask" && isTighter(source.proof, preview.proof))
    return refused(
      "APPROVAL_DENIED",
      "The mode is stricter than at the call, and now asks a person.",
      againHint(source),
    );
  return undefined;
}

/** The approval of the call, or its freedom from one, was of a milder mode. */
function isTighter(before: AuthorityOfProof | undefined, now: AuthorityOfProof | undefined): boolean {
  return before?.mode !== undefined && now?.mode !== undefined && isStricter(now.mode, before.mode);
}

function refused(code: ErrorCode, message: string, hint: string): ModelError {
  return { code, message, details: {}, retryable: false, hint };
}

/** A second call could pay twice. */
function againHint<Reader>({ effects, mayCall }: OutputSource<Reader>): string {
  const isHarmless = mayCall !== true && effects?.some(changesWorld) === false;
  return isHarmless ? "Call the tool again." : "Check the effects of the call before you call the tool again.";
}

function revokedOf<Reader>({ effects, mayCall }: OutputSource<Reader>, revoked: readonly string[]): readonly string[] {
  return effects === undefined || mayCall === true ? revoked : revoked.filter((kind) => effects.includes(kind));
}

function areEqual(one: AuthorityOfProof | undefined, other: AuthorityOfProof | undefined): boolean {
  return one?.policyHash === other?.policyHash && one?.grantHash === other?.grantHash;
}
