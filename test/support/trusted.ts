import { type KeySource, type TrustedKeys, trustKeys } from "@keyhole/kernel/audit";
import { publicKeyOf, type ProofPublicKey } from "@keyhole/kernel/policy";

/** Keys that a test trusts; only their public halves are looked at. */
export async function trusting(...keys: readonly ProofPublicKey[]): Promise<TrustedKeys> {
  const source: KeySource = keys.map(publicKeyOf);
  const trusted = await trustKeys(source);
  if (typeof trusted === "string") throw new Error(trusted);
  return trusted;
}
