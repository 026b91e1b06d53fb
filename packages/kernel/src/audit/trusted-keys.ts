import type { JsonValue } from "../json/json.ts";
import { fromBase64Url, importPublicKey, keyId, type ProofPublicKey, readPublicKeys } from "./public-key.ts";
import type { VouchedByKey } from "./vouched.ts";

/** `unknown`: no key has this thumbprint. `forged`: the key that has it did not sign these bytes. */
type Refused = "unknown" | "forged";

/** As the platform's own types have it: to some of them, its memory could be shared. */
type Bytes = ReturnType<TextEncoder["encode"]>;

/** Keys that a verifier trusts. {@link trustKeys} and {@link pinKeys} make them, and nothing that is read from a file is one. */
export class TrustedKeys {
  readonly #keys: ReadonlyMap<string, CryptoKey>;

  constructor(keys: ReadonlyMap<string, CryptoKey>) {
    this.#keys = keys;
  }

  /** Their thumbprints. */
  get kids(): readonly string[] {
    return [...this.#keys.keys()];
  }

  async verify(kid: string, signature: Bytes, signed: Bytes): Promise<VouchedByKey | Refused> {
    const key = this.#keys.get(kid);
    if (!key) return "unknown";
    // The one place that makes it: the operator trusts the key, and it has signed.
    return (await hasSigned(key, signature, signed)) ? ({ kind: "key", kid } as VouchedByKey) : "forged";
  }
}

/** Keys that came with what they signed. They vouch for nothing; {@link pinKeys} takes those out whose thumbprint is known from elsewhere. */
export class EnclosedKeys {
  readonly #keys: readonly ProofPublicKey[];

  constructor(keys: readonly ProofPublicKey[]) {
    this.#keys = keys;
  }

  /** Those with one of these thumbprints. There is no way to the others: they would be trusted by mistake. */
  pinned(kids: readonly string[]): Promise<KeysById> {
    return pinned(this.#keys, kids);
  }

  /** Whether the signature belongs to one of the keys. Any party can make that true. */
  async verify(kid: string, signature: Bytes, signed: Bytes): Promise<"consistent" | Refused> {
    for (const key of this.#keys) {
      if ((await keyId(key)) !== kid) continue;
      return (await hasSigned(await importPublicKey(key), signature, signed)) ? "consistent" : "forged";
    }
    return "unknown";
  }
}

function hasSigned(key: CryptoKey, signature: Bytes, signed: Bytes): Promise<boolean> {
  return crypto.subtle.verify("Ed25519", key, signature, signed).catch(() => false);
}

/** Public keys as data. {@link EnclosedKeys} are none: this does not compile for them. */
export type KeySource = ProofPublicKey | readonly ProofPublicKey[] | JsonValue;

/**
 * Trusts public keys: a JSON Web Key, a list of them, or a JWK Set. Get them from their owner, never from what they signed. A key is known by its
 * thumbprint; a `kid` in the document is a name without meaning.
 *
 * @returns A sentence where the document holds no key, or something else.
 */
export async function trustKeys(keys: KeySource): Promise<TrustedKeys | string> {
  const list = readPublicKeys(keys);
  if (typeof list === "string") return list;
  return list.length === 0 ? "The file has no key." : importAll(await byId(list));
}

/**
 * Trusts the keys that have one of these thumbprints (RFC 7638, base64url), wherever the keys come from.
 *
 * @returns A sentence where a thumbprint is none, or no key has one of them.
 */
export async function pinKeys(kids: readonly string[], keys: KeySource | EnclosedKeys): Promise<TrustedKeys | string> {
  const wrong = kids.find((kid) => fromBase64Url(kid, 32) === undefined);
  if (wrong !== undefined)
    return `${JSON.stringify(wrong.slice(0, 60))} is not a thumbprint. Expected SHA-256 in base64url, 43 characters.`;
  if (keys instanceof EnclosedKeys) return importAll(await keys.pinned(kids));
  const list = readPublicKeys(keys);
  return typeof list === "string" ? list : importAll(await pinned(list, kids));
}

/** By thumbprint. */
type KeysById = ReadonlyMap<string, ProofPublicKey>;

async function byId(keys: readonly ProofPublicKey[]): Promise<KeysById> {
  return new Map(await Promise.all(keys.map(async (key) => [await keyId(key), key] as const)));
}

async function pinned(keys: readonly ProofPublicKey[], kids: readonly string[]): Promise<KeysById> {
  return new Map([...(await byId(keys))].filter(([kid]) => kids.includes(kid)));
}

async function importAll(keys: KeysById): Promise<TrustedKeys | string> {
  if (keys.size === 0) return "No key has a pinned thumbprint.";
  try {
    return new TrustedKeys(
      new Map(await Promise.all([...keys].map(async ([kid, key]) => [kid, await importPublicKey(key)] as const))),
    );
  } catch {
    return "This platform refuses the key. Use a platform whose WebCrypto supports Ed25519.";
  }
}
