import { canonicalize } from "../../json/canonical-json.ts";
import { blake3Hash } from "../../hash/blake3-hash.ts";
import type { Hash } from "../../hash/hash.ts";
import type { JsonObject } from "../../json/json.ts";
import { snapshot } from "../../json/snapshot.ts";
import { engineVersion } from "./seal-proof.ts";

export type ProofCheck = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/**
 * Whether a proof has the digest that it names: it is unchanged since any party sealed it.
 * `verifyProof` of `@keyhole/kernel/policy` names the party that vouches for it. Takes untrusted
 * data and never throws.
 *
 * @param by The algorithm of the kernel that sealed it. Default BLAKE3. The verifier refuses one in another algorithm.
 */
export function verifyProofDigest(foreign: unknown, by: Hash = blake3Hash): ProofCheck {
  const plain = snapshot(foreign);
  if (!plain.ok) return { ok: false, reason: `The proof is not JSON: ${plain.error.message}.` };
  if (typeof plain.value !== "object" || plain.value === null || Array.isArray(plain.value))
    return { ok: false, reason: "The proof is not an object." };
  const { hash, signature: _, ...body } = plain.value as JsonObject;
  if (body["v"] !== 1)
    return { ok: false, reason: `Unknown proof version ${JSON.stringify(body["v"] ?? null).slice(0, 40)}.` };
  if (body["engineVersion"] !== engineVersion)
    return { ok: false, reason: "The proof comes from another engine version." };
  const text = canonicalize(body);
  if (!text.ok) return { ok: false, reason: `The proof has no canonical form: ${text.error.message}.` };
  const actual = by.text(text.text);
  return hash === actual
    ? { ok: true }
    : {
        ok: false,
        reason: `The content has digest ${actual}, the proof says ${JSON.stringify(hash ?? null).slice(0, 100)}.`,
      };
}
