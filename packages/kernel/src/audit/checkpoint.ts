import { canonicalJson } from "../normalize/canonical-json.ts";
import { snapshot } from "../normalize/snapshot.ts";
import { requireValidator } from "../schema/require.ts";

/**
 * What a log was at one time: the root of the Merkle tree (RFC 9162) over its first `size` events, signed. Kept elsewhere, it shows that a log was cut
 * or rewritten later, which its chain alone cannot.
 */
export interface Checkpoint {
  readonly v: 1;
  /** Which log: a name that its owner gives it. */
  readonly origin: string;
  /** Events that it covers, from the first. */
  readonly size: number;
  /** In the algorithm of the log; each leaf is the digest of one event, as 32 bytes. */
  readonly root: string;
  /** RFC 3339, UTC. */
  readonly time: string;
  readonly signature: {
    readonly alg: "Ed25519";
    /** Which key; the reader has to know it. */
    readonly kid: string;
    /** 64 bytes, hexadecimal, over the canonical JSON (RFC 8785) of all other fields. */
    readonly value: string;
  };
}

const validator = requireValidator({
  type: "object",
  properties: {
    v: { const: 1 },
    origin: { type: "string", minLength: 1, maxLength: 256 },
    size: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    root: { type: "string", pattern: "^(blake3|sha256):[0-9a-f]{64}$" },
    time: { type: "string", format: "date-time" },
    signature: {
      type: "object",
      properties: {
        alg: { const: "Ed25519" },
        kid: { type: "string", minLength: 1, maxLength: 256 },
        value: { type: "string", pattern: "^[0-9a-f]{128}$" },
      },
      required: ["alg", "kid", "value"],
      additionalProperties: false,
    },
  },
  required: ["v", "origin", "size", "root", "time", "signature"],
  additionalProperties: false,
});

/**
 * Signs what a log is now.
 *
 * @param key An Ed25519 private key of WebCrypto.
 * @example
 * const check = await verifyAudit(await kernel.audit.read());
 * const checkpoint = await signCheckpoint({ origin: "shop", size: check.events, root: check.root, time: new Date().toISOString() }, key, "2026-1");
 */
export async function signCheckpoint(
  state: Pick<Checkpoint, "origin" | "size" | "root" | "time">,
  key: CryptoKey,
  kid: string,
): Promise<Checkpoint> {
  const { origin, size, root, time } = state;
  const body = { v: 1, origin, size, root, time } as const;
  const signature = new Uint8Array(await crypto.subtle.sign("Ed25519", key, encode(body)));
  const value = Array.from(signature, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { ...body, signature: { alg: "Ed25519", kid, value } };
}

export type CheckpointCheck =
  | { readonly ok: true; readonly checkpoint: Checkpoint }
  | { readonly ok: false; readonly reason: string };

/** Whether a foreign document is a checkpoint that the owner of this key signed. Never rejects. */
export async function verifyCheckpoint(foreign: unknown, key: CryptoKey): Promise<CheckpointCheck> {
  const plain = snapshot(foreign);
  const valid = plain.ok ? validator.validate(plain.value) : undefined;
  if (!valid?.ok) return { ok: false, reason: `It is no checkpoint: ${valid?.errors[0]?.message ?? "not JSON"}` };
  const checkpoint = valid.value as Checkpoint;
  const { signature, ...body } = checkpoint;
  const value = Uint8Array.from({ length: 64 }, (_, i) => Number.parseInt(signature.value.slice(i * 2, i * 2 + 2), 16));
  try {
    const ok = await crypto.subtle.verify("Ed25519", key, value, encode(body));
    return ok ? { ok, checkpoint } : { ok, reason: "The signature is not one of this key over this checkpoint." };
  } catch {
    return { ok: false, reason: "The key cannot verify Ed25519 signatures." };
  }
}

/** As the platform's own types have it: to some of them, its memory could be shared. */
function encode(body: Omit<Checkpoint, "signature">): ReturnType<TextEncoder["encode"]> {
  return new TextEncoder().encode(canonicalJson(body));
}
