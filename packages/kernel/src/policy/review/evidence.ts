import type { AuditEvent } from "../../audit/event.ts";
import { readPublicKeys } from "../../audit/public-key.ts";
import { EnclosedKeys, type TrustedKeys } from "../../audit/trusted-keys.ts";
import type { Capability } from "../../capability/capability.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../json/json.ts";
import { snapshot } from "../../json/snapshot.ts";
import type { ToolManifest } from "../../tool/manifest.ts";
import { isUnproven, verifyFailure } from "./check-failure.ts";
import type { ProofEvidence } from "./proof-evidence.ts";
import type { FailureReport, ProofReport } from "./report.ts";
import { verifyProof } from "./verify.ts";
import { LARGE } from "./witnessed-log.ts";

/** The content of a file: a proof or a call's result, alone or with its evidence. */
export interface EvidenceFile {
  /** Absent of a call that failed before a decision. */
  readonly proof?: JsonValue;
  readonly evidence: ProofEvidence;
}

export type EvidenceRead =
  | { readonly ok: true; readonly value: EvidenceFile }
  /** `member` is the one that cannot be used. */
  | { readonly ok: false; readonly member: string; readonly message: string };

type Read = (value: JsonValue) => Partial<ProofEvidence> | string;

/** A member of a file, and what becomes of it; a sentence where nothing can. */
const readers: Readonly<Record<string, Read>> = {
  keys: (value) => {
    const keys = readPublicKeys(value);
    return typeof keys === "string" ? keys : { enclosedKeys: new EnclosedKeys(keys) };
  },
  events: (value) =>
    Array.isArray(value) ? { events: value as unknown as readonly AuditEvent[] } : "The log is not a list of events.",
  checkpoints: (value) => (Array.isArray(value) ? { checkpoints: value } : "The checkpoints are not a list."),
  policy: (policy) => ({ policy }),
  tool: readTool,
  input: (input) => ({ input }),
  grants: (value) =>
    Array.isArray(value)
      ? { grants: value as unknown as readonly Capability[] }
      : "The grants are not a list of capabilities.",
  parent: (parent) => ({ parent }),
};

/**
 * Reads the evidence for the check of a proof: `{ proof, keys?, events?, checkpoints?, policy?, tool?, input?, grants?, parent? }`, or a bare proof, or a call's result. A failed call can have no proof.
 * Takes data from anywhere; whether it is true is for `verifyEvidence`. Its keys came with it: they become `enclosedKeys`, and vouch for nothing. All other members of the
 * file are claims: they become `result`.
 *
 * @param given Members that the verifier has from elsewhere. Each takes the place of that of the file.
 * @example
 * const read = readEvidence(JSON.parse(text));
 * if (read.ok) console.log(await verifyEvidence(read.value, trusted));
 */
export function readEvidence(foreign: JsonValue, given: Readonly<Record<string, JsonValue>> = {}): EvidenceRead {
  const plain = snapshot(foreign, LARGE);
  if (!plain.ok) return { ok: false, member: "proof", message: `It is not JSON: ${plain.error.message}.` };
  const file = plain.value;
  const isWhole = isUnproven(file) || (isJsonObject(file) && isJsonObject(file["proof"]));
  const { proof, ...others }: JsonObject = isWhole ? file : { proof: file };
  const claims = Object.entries(others).filter(([member, value]) => isClaim(member, value));
  const known = Object.entries(others).filter(([member, value]) => !isClaim(member, value));
  const own = readMembers({ ...Object.fromEntries(known), ...given });
  if (!own.ok) return own;
  const result = claims.length === 0 ? {} : { result: Object.fromEntries(claims) };
  return { ok: true, value: { ...(proof !== undefined && { proof }), evidence: { ...own.value, ...result } } };
}

/**
 * Verifies what {@link readEvidence} gave: a proof with its evidence, as `verifyProof` does, or a call that failed before a decision. The log alone can vouch for such a
 * failure: without one the verdict is `inconclusive`.
 *
 * @param trusted as for `verifyProof`
 */
export async function verifyEvidence(
  { proof, evidence }: EvidenceFile,
  trusted?: TrustedKeys,
): Promise<ProofReport | FailureReport> {
  return proof === undefined ? verifyFailure(evidence, trusted) : verifyProof(proof, evidence, trusted);
}

function readMembers(
  members: Readonly<Record<string, JsonValue>>,
): { readonly ok: true; readonly value: ProofEvidence } | (EvidenceRead & { readonly ok: false }) {
  let value: ProofEvidence = {};
  for (const [member, read] of Object.entries(readers)) {
    const foreign = Object.hasOwn(members, member) ? members[member] : undefined;
    if (foreign === undefined) continue;
    const part = read(foreign);
    if (typeof part === "string") return { ok: false, member, message: part };
    value = { ...value, ...part };
  }
  return { ok: true, value };
}

/** A member of a result. One names its tool by a text. */
function isClaim(member: string, value: JsonValue): boolean {
  return member === "tool" ? typeof value === "string" : !Object.hasOwn(readers, member);
}

/** A package, a manifest with the digest of its code, or a manifest alone. */
function readTool(value: JsonValue): Pick<ProofEvidence, "tool"> | string {
  if (!isJsonObject(value)) return "The tool is neither a package nor a manifest.";
  const { manifest, code, codeHash } = value;
  if (!isJsonObject(manifest)) return { tool: { manifest: value as unknown as ToolManifest } };
  return {
    tool: {
      manifest: manifest as unknown as ToolManifest,
      ...(typeof code === "string" && { code }),
      ...(typeof codeHash === "string" && { codeHash }),
    },
  };
}
