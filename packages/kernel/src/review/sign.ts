import { type Checkpoint, type CheckpointCheck, signCheckpoint, verifyCheckpoint } from "../audit/checkpoint.ts";
import type { ProofSigner } from "../kernel-api.ts";
import { canonicalJson } from "../normalize/canonical-json.ts";
import type { Proof, ProofSignature } from "../policy/proof.ts";

/** An Ed25519 public key as a JSON Web Key (RFC 8037). */
export interface ProofPublicKey {
  readonly kty: "OKP";
  readonly crv: "Ed25519";
  /** base64url, 32 bytes. */
  readonly x: string;
}

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

/** What may be handed to those who verify. */
export function publicKeyOf({ kty, crv, x }: ProofPublicKey): ProofPublicKey {
  return { kty, crv, x };
}

/** The key's thumbprint: SHA-256 over its required members (RFC 7638, RFC 8037 appendix A.3), base64url. */
export async function keyId({ kty, crv, x }: ProofPublicKey): Promise<string> {
  return toBase64Url(
    new Uint8Array(await crypto.subtle.digest("SHA-256", encoder.encode(canonicalJson({ kty, crv, x })))),
  );
}

/**
 * Signs proofs with one key. To change keys, open the next kernel with the next key, and give verifiers both public ones for as long as old proofs matter.
 *
 * @throws what WebCrypto throws for a key that it does not take.
 */
export async function proofSigner({ kty, crv, x, d }: ProofKey): Promise<ProofSigner> {
  const key = await crypto.subtle.importKey("jwk", { kty, crv, x, d }, "Ed25519", false, ["sign"]);
  const kid = await keyId({ kty, crv, x });
  return {
    sign: async (proof: Proof) => {
      const value = toBase64Url(new Uint8Array(await crypto.subtle.sign("Ed25519", key, encoder.encode(proof.hash))));
      return { ...proof, signature: { alg: "EdDSA", kid, value } };
    },
  };
}

/**
 * Signs checkpoints of the log with the key that signs proofs, under the same key id, so that verifiers need one set of public keys. To change keys goes as it
 * does for proofs.
 *
 * @throws what WebCrypto throws for a key that it does not take.
 */
export async function checkpointSigner({
  kty,
  crv,
  x,
  d,
}: ProofKey): Promise<(state: Pick<Checkpoint, "origin" | "size" | "root" | "time">) => Promise<Checkpoint>> {
  const key = await crypto.subtle.importKey("jwk", { kty, crv, x, d }, "Ed25519", false, ["sign"]);
  const kid = await keyId({ kty, crv, x });
  return (state) => signCheckpoint(state, key, kid);
}

/** Whether a foreign document is a checkpoint that the owner of one of these keys signed. Never rejects. */
export async function verifyCheckpointBy(foreign: unknown, keys: readonly ProofPublicKey[]): Promise<CheckpointCheck> {
  for (const { kty, crv, x } of keys) {
    try {
      const key = await crypto.subtle.importKey("jwk", { kty, crv, x }, "Ed25519", false, ["verify"]);
      const check = await verifyCheckpoint(foreign, key);
      if (check.ok && check.checkpoint.signature.kid === (await keyId({ kty, crv, x }))) return check;
    } catch {
      // A key that the platform does not take has signed nothing.
    }
  }
  return { ok: false, reason: "None of the given keys signed it." };
}

/** Why a signature is not one of these keys over this hash. `undefined` for one that is. */
export async function signatureFault(
  hash: string,
  signature: ProofSignature,
  keys: readonly ProofPublicKey[],
): Promise<string | undefined> {
  for (const { kty, crv, x } of keys) {
    if ((await keyId({ kty, crv, x })) !== signature.kid) continue;
    const bytes = fromBase64Url(signature.value);
    if (!bytes) return "The signature is not base64url.";
    const key = await crypto.subtle.importKey("jwk", { kty, crv, x }, "Ed25519", false, ["verify"]);
    const isGenuine = await crypto.subtle.verify("Ed25519", key, bytes, encoder.encode(hash));
    return isGenuine ? undefined : `The signature is not that of key ${signature.kid}.`;
  }
  return `None of the given keys is ${signature.kid}.`;
}

function toBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
}

/** 64 bytes in their one spelling: what decodes alike but is written otherwise is refused. */
function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9_-]{86}$/.test(text)) return undefined;
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) =>
    character.charCodeAt(0),
  );
  return toBase64Url(bytes) === text ? bytes : undefined;
}
