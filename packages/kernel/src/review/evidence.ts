import type { AuditEvent } from "../audit/event.ts";
import type { Capability } from "../capability/capability.ts";
import { isJsonObject, type JsonValue } from "../normalize/json.ts";
import type { PolicyVariables } from "../policy/variables.ts";
import type { ToolManifest } from "../tool/manifest.ts";
import type { ProofPublicKey } from "./sign.ts";
import type { ProofEvidence } from "./proof-evidence.ts";

/** What a file can hold: a proof, a call's result, or either with what it takes to check it. */
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
    const keys = readKeys(value);
    return typeof keys === "string" ? keys : { keys };
  },
  events: (value) =>
    Array.isArray(value) ? { events: value as unknown as readonly AuditEvent[] } : "A log is a list of events.",
  policy: (policy) => ({ policy }),
  variables: (value) =>
    isJsonObject(value) ? { variables: value as PolicyVariables } : "Variables are an object from names to texts.",
  // A result names its tool by a text.
  tool: (value) => (typeof value === "string" ? {} : readTool(value)),
  input: (input) => ({ input }),
  grants: (value) =>
    Array.isArray(value) ? { grants: value as unknown as readonly Capability[] } : "Grants are a list of capabilities.",
  parent: (parent) => ({ parent }),
};

/**
 * Reads what a proof is to be checked with: `{ proof, keys?, events?, policy?, variables?, tool?, input?, grants?, parent? }`, or a bare proof, or a call's result. Takes
 * data from anywhere; whether it is true is for `verifyProof`.
 *
 * @example
 * const read = readEvidence(JSON.parse(text));
 * if (read.ok) console.log(await verifyProof(read.value.proof, read.value.evidence));
 */
export function readEvidence(foreign: JsonValue): EvidenceRead {
  if (!isJsonObject(foreign) || !isJsonObject(foreign["proof"]))
    return { ok: true, value: { proof: foreign, evidence: {} } };
  let evidence: ProofEvidence = {};
  for (const [member, read] of Object.entries(readers)) {
    if (!Object.hasOwn(foreign, member)) continue;
    const part = read(foreign[member]!);
    if (typeof part === "string") return { ok: false, member, message: part };
    evidence = { ...evidence, ...part };
  }
  return { ok: true, value: { proof: foreign["proof"], evidence } };
}

/** Public keys from one JSON Web Key, a list of them, or a JWK Set (RFC 7517, 5); a sentence where they are something else. */
export function readKeys(value: JsonValue): readonly ProofPublicKey[] | string {
  const set = isJsonObject(value) ? value["keys"] : undefined;
  const list = Array.isArray(value) ? value : Array.isArray(set) ? set : [value];
  const keys: ProofPublicKey[] = [];
  for (const key of list as readonly JsonValue[]) {
    if (!isJsonObject(key) || key["kty"] !== "OKP" || key["crv"] !== "Ed25519" || typeof key["x"] !== "string")
      return "A key is a JSON Web Key of kty OKP and crv Ed25519.";
    keys.push({ kty: "OKP", crv: "Ed25519", x: key["x"] });
  }
  return keys;
}

/** A package, a manifest with the digest of its code, or a manifest alone. */
function readTool(value: JsonValue): Pick<ProofEvidence, "tool"> | string {
  if (!isJsonObject(value)) return "A tool is a package, or a manifest.";
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
