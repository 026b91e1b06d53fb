import { canonicalize, canonicalJson } from "../normalize/canonical-json.ts";
import { hashText } from "../normalize/hash.ts";
import type { JsonObject } from "../normalize/json.ts";
import { snapshot } from "../normalize/snapshot.ts";
import type { Proof } from "./proof.ts";

/** The engine whose rules decided; part of every proof, because the same policy can be read differently by a later one. */
export const engineVersion = "keyhole/1";

/** Closes a proof: the digest over the canonical JSON of all other fields. */
export function sealProof(body: Omit<Proof, "v" | "engineVersion" | "hash">): Proof {
  const full = { v: 1, engineVersion, ...body } as const;
  const text = canonicalJson(full as unknown as JsonObject);
  const hash = hashText(text);
  const proof = { ...full, hash };
  // The digest's place in the canonical order is between two members that every proof has. Quotes within text are escaped, so this is found once.
  const place = text.indexOf(',"inputHash":');
  sealed = { proof, text: `${text.slice(0, place)},"hash":"${hash}"${text.slice(place)}` };
  return proof;
}

/** The one that was sealed last: it is recorded right after. A weak map of all would cost the collector more than it saves. */
let sealed: { readonly proof: Proof; readonly text: string } | undefined;

/** What a `policy.decided` event says, and its canonical JSON. A proof is the longest text of a call: the one just sealed is not written again. */
export function decided(
  proof: Proof,
): [payload: Pick<Proof, "decision" | "reasonCode"> & { readonly proof: Proof }, text: string] {
  const { decision, reasonCode } = proof;
  const text = sealed?.proof === proof ? sealed.text : canonicalJson(proof as unknown as JsonObject);
  return [{ decision, reasonCode, proof }, `{"decision":"${decision}","proof":${text},"reasonCode":"${reasonCode}"}`];
}

export type ProofCheck = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/**
 * Whether a proof is unchanged since it was sealed since it was sealed. Takes foreign data and never throws. It says nothing about who sealed it: signatures, and what else can
 * be asked of a proof, are the matter of `@keyhole/kernel/policy`.
 */
export function verifyProof(foreign: unknown): ProofCheck {
  const plain = snapshot(foreign);
  if (!plain.ok) return { ok: false, reason: `The proof is not JSON: ${plain.error.message}.` };
  if (typeof plain.value !== "object" || plain.value === null || Array.isArray(plain.value))
    return { ok: false, reason: "A proof is an object." };
  const { hash, signature: _, ...body } = plain.value as JsonObject;
  if (body["v"] !== 1)
    return { ok: false, reason: `Unknown proof version ${JSON.stringify(body["v"] ?? null).slice(0, 40)}.` };
  if (body["engineVersion"] !== engineVersion)
    return { ok: false, reason: "The proof comes from another engine version." };
  const text = canonicalize(body);
  if (!text.ok) return { ok: false, reason: `The proof has no canonical form: ${text.error.message}.` };
  const actual = hashText(text.text);
  return hash === actual
    ? { ok: true }
    : {
        ok: false,
        reason: `The content has digest ${actual}, the proof says ${JSON.stringify(hash ?? null).slice(0, 100)}.`,
      };
}
