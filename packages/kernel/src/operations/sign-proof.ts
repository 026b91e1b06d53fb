import type { ProofSigner } from "../kernel-api.ts";
import type { Proof, ProofSignature } from "../policy/proof/proof.ts";
import type { CallResult } from "../result.ts";
import { type Foreign, membersOf, type Theirs } from "../support/foreign.ts";

/** The result with its proof signed; unsigned, with a warning, where the signer fails. */
export async function signProof(result: CallResult, signer: Theirs<ProofSigner>): Promise<CallResult> {
  if (!result.proof) return result;
  try {
    return { ...result, proof: { ...result.proof, signature: readSignature(await signer.sign(result.proof)) } };
  } catch {
    const warnings = [...result.meta.warnings, "The kernel could not sign the proof."];
    return { ...result, meta: { ...result.meta, warnings } };
  }
}

/** All that a signer adds. @throws TypeError for what is no signature */
function readSignature(foreign: Foreign<Proof>): ProofSignature {
  const { signature } = membersOf(foreign, "signature");
  const { alg, kid, value } = membersOf(signature, "alg", "kid", "value");
  if (alg === "EdDSA" && typeof kid === "string" && typeof value === "string") return { alg, kid, value };
  throw new TypeError("The signer returned no signature.");
}
