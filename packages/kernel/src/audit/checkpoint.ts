import { digestPattern } from "../hash/hash.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { snapshot } from "../json/snapshot.ts";
import { allParts } from "../schema/all-parts.ts";
import { explain } from "../schema/explain/index.ts";
import { requireValidator } from "../schema/compile-own.ts";
import type { TrustedKeys } from "./trusted-keys.ts";
import type { VouchedByKey, VouchedByNobody } from "./vouched.ts";

/** The state of a log at one time: the root of the Merkle tree (RFC 9162) over its first `size` events. */
export interface CheckpointState {
  /** Which log: a name that its owner gives it. */
  readonly origin: string;
  /** Events that it covers, from the first. */
  readonly size: number;
  /** In the algorithm of the log; each leaf is the digest of one event, as 32 bytes. */
  readonly root: string;
  /** RFC 3339, UTC. */
  readonly time: string;
}

/** Signed, and kept elsewhere, it shows that a log was cut or rewritten later, which its chain alone cannot. */
export interface Checkpoint extends CheckpointState {
  readonly v: 1;
  readonly signature: {
    readonly alg: "Ed25519";
    /**
     * Thumbprint of the public key (RFC 7638). It is not signed: the result of `verifyCheckpoint`
     * names the signer.
     */
    readonly kid: string;
    /** 64 bytes, hexadecimal, over the canonical JSON (RFC 8785) of all fields but `signature`. */
    readonly value: string;
  };
}

const validator = requireValidator(
  {
    type: "object",
    properties: {
      v: { const: 1 },
      origin: { type: "string", minLength: 1, maxLength: 256 },
      size: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
      root: { type: "string", pattern: digestPattern },
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
  },
  { ...allParts, explain },
);

/** Signs the state of a log with the private half of the key that has this thumbprint. */
export async function signCheckpoint(state: CheckpointState, key: CryptoKey, kid: string): Promise<Checkpoint> {
  const { origin, size, root, time } = state;
  const body = { v: 1, origin, size, root, time } as const;
  const signature = new Uint8Array(await crypto.subtle.sign("Ed25519", key, encode(body)));
  const value = Array.from(signature, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { ...body, signature: { alg: "Ed25519", kid, value } };
}

/** The checkpoint comes without its signature: nothing but `vouchedBy` says who signed. */
export type CheckpointCheck =
  | { readonly verdict: "verified"; readonly vouchedBy: VouchedByKey; readonly checkpoint: CheckpointState }
  | { readonly verdict: "unvouched"; readonly vouchedBy: VouchedByNobody; readonly checkpoint: CheckpointState }
  | { readonly verdict: "broken"; readonly reason: string };

/**
 * Whether a foreign document is a checkpoint, and which of these keys signed it. With keys, one that none of them signed is `broken`; without,
 * any is `unvouched`. Never rejects.
 */
export async function verifyCheckpoint(foreign: unknown, trusted?: TrustedKeys): Promise<CheckpointCheck> {
  const plain = snapshot(foreign);
  const valid = plain.ok ? validator.validateOwn(plain.value) : undefined;
  if (!valid?.ok) return broken(`The value is not a checkpoint: ${valid?.errors[0]?.message ?? "not JSON"}`);
  const { signature, ...body } = valid.value as Checkpoint;
  const { v: _, ...checkpoint } = body;
  if (!trusted) {
    const reason = "Signature not checked: there is no public key.";
    return { verdict: "unvouched", vouchedBy: { kind: "nobody", reason }, checkpoint };
  }
  const value = Uint8Array.from({ length: 64 }, (_, i) => Number.parseInt(signature.value.slice(i * 2, i * 2 + 2), 16));
  const vouchedBy = await trusted.verify(signature.kid, value, encode(body));
  if (typeof vouchedBy === "string") return broken("No trusted key signed it.");
  return { verdict: "verified", vouchedBy, checkpoint };
}

const broken = (reason: string): CheckpointCheck => ({ verdict: "broken", reason });

/** As the platform's own types have it: to some of them, its memory could be shared. */
function encode(body: Omit<Checkpoint, "signature">): ReturnType<TextEncoder["encode"]> {
  return new TextEncoder().encode(canonicalJson(body));
}
