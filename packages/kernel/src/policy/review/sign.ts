import { type Checkpoint, type CheckpointState, signCheckpoint } from "../../audit/checkpoint.ts";
import { keyId, type ProofPublicKey } from "../../audit/public-key.ts";
import { encodeBase64Url } from "../../bytes/base64.ts";
import type { ProofSigner } from "../../kernel-api.ts";
import type { Proof } from "../proof/proof.ts";

/** With its private half. */
export interface ProofKey extends ProofPublicKey {
  readonly d: string;
}

const encoder = new TextEncoder();

/** A new key. Needs WebCrypto with Ed25519: Node, workerd, and browsers in a secure context. */
export async function createProofKey(): Promise<ProofKey> {
  const pair = (await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"])) as { privateKey: CryptoKey };
  const { x, d } = (await crypto.subtle.exportKey("jwk", pair.privateKey)) as { x: string; d: string };
  return { kty: "OKP", crv: "Ed25519", x, d };
}

/** The public part of a key, for verifiers. */
export function publicKeyOf({ kty, crv, x }: ProofPublicKey): ProofPublicKey {
  return { kty, crv, x };
}

/**
 * Signs proofs with one key. To change keys, open the next kernel with the next key, and give
 * verifiers both public keys while old proofs matter.
 *
 * @throws the exception of WebCrypto for a key that it refuses.
 */
export async function proofSigner({ kty, crv, x, d }: ProofKey): Promise<ProofSigner> {
  const key = await crypto.subtle.importKey("jwk", { kty, crv, x, d }, "Ed25519", false, ["sign"]);
  const kid = await keyId({ kty, crv, x });
  return {
    sign: async (proof: Proof) => {
      const value = encodeBase64Url(
        new Uint8Array(await crypto.subtle.sign("Ed25519", key, encoder.encode(proof.hash))),
      );
      return { ...proof, signature: { alg: "EdDSA", kid, value } };
    },
  };
}

/**
 * Signs checkpoints of the log with the key that signs proofs, under the same key id, so that verifiers need one set of public keys. To change keys goes as it
 * does for proofs.
 *
 * @throws the exception of WebCrypto for a key that it refuses.
 */
export async function checkpointSigner({
  kty,
  crv,
  x,
  d,
}: ProofKey): Promise<(state: CheckpointState) => Promise<Checkpoint>> {
  const key = await crypto.subtle.importKey("jwk", { kty, crv, x, d }, "Ed25519", false, ["sign"]);
  const kid = await keyId({ kty, crv, x });
  return (state) => signCheckpoint(state, key, kid);
}
