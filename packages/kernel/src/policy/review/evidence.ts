import type { AuditEvent } from "../../audit/event.ts";
import { readPublicKeys } from "../../audit/public-key.ts";
import { EnclosedKeys } from "../../audit/trusted-keys.ts";
import type { Capability } from "../../capability/capability.ts";
import { isJsonObject, type JsonValue } from "../../json/json.ts";
import { snapshot } from "../../json/snapshot.ts";
import type { PolicyVariables } from "../document/variables.ts";
import type { ToolManifest } from "../../tool/manifest.ts";
import type { ProofEvidence } from "./proof-evidence.ts";

/** The content of a file: a proof or a call's result, alone or with its evidence. */
export interface EvidenceFile {
  readonly proof: JsonValue;
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
  variables: (value) =>
    isJsonObject(value) ? { variables: value as PolicyVariables } : "The variables are not an object of strings.",
  // A result names its tool by a text.
  tool: (value) => (typeof value === "string" ? {} : readTool(value)),
  input: (input) => ({ input }),
  grants: (value) =>
    Array.isArray(value)
      ? { grants: value as unknown as readonly Capability[] }
      : "The grants are not a list of capabilities.",
  parent: (parent) => ({ parent }),
};

/**
 * Reads the evidence for the check of a proof: `{ proof, keys?, events?, checkpoints?, policy?, variables?, tool?, input?, grants?, parent? }`, or a bare proof, or a call's result.
 * Takes data from anywhere; whether it is true is for `verifyProof`. Its keys came with it: they become `enclosedKeys`, and vouch for nothing.
 *
 * @example
 * const read = readEvidence(JSON.parse(text));
 * if (read.ok) console.log(await verifyProof(read.value.proof, read.value.evidence, trusted));
 */
export function readEvidence(foreign: JsonValue): EvidenceRead {
  const plain = snapshot(foreign, { maxNodes: 100_000_000, maxMembers: 100_000_000, maxStringUnits: 1_000_000_000 });
  if (!plain.ok) return { ok: false, member: "proof", message: `It is not JSON: ${plain.error.message}.` };
  const whole = plain.value;
  if (!isJsonObject(whole) || !isJsonObject(whole["proof"])) return { ok: true, value: { proof: whole, evidence: {} } };
  let evidence: ProofEvidence = {};
  for (const [member, read] of Object.entries(readers)) {
    if (!Object.hasOwn(whole, member)) continue;
    const part = read(whole[member]!);
    if (typeof part === "string") return { ok: false, member, message: part };
    evidence = { ...evidence, ...part };
  }
  return { ok: true, value: { proof: whole["proof"], evidence } };
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
