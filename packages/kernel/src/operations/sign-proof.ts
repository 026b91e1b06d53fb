import type { ProofSigner } from "../kernel-api.ts";
import type { CallResult } from "../result.ts";

/** The result with its proof signed; unsigned, with a warning, where the signer fails. */
export async function signProof(result: CallResult, signer: ProofSigner): Promise<CallResult> {
  if (!result.proof) return result;
  try {
    // A signer adds a signature, and changes nothing else.
    const { signature } = await signer.sign(result.proof);
    if (signature) return { ...result, proof: { ...result.proof, signature } };
  } catch {
    // As where it gives none.
  }
  const warnings = [...result.meta.warnings, "The kernel could not sign the proof."];
  return { ...result, meta: { ...result.meta, warnings } };
}
