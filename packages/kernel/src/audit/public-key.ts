import { decodeBase64Url, encodeBase64Url } from "../bytes/base64.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { isJsonObject, type JsonObject, type JsonValue, isJsonArray } from "../json/json.ts";
import { snapshot } from "../json/snapshot.ts";

/** An Ed25519 public key as a JSON Web Key (RFC 8037). */
export interface ProofPublicKey {
  readonly kty: "OKP";
  readonly crv: "Ed25519";
  /** base64url, 32 bytes. */
  readonly x: string;
}

const encoder = /* @__PURE__ */ new TextEncoder();

/** The key's thumbprint: SHA-256 over its required members (RFC 7638, RFC 8037 appendix A.3), base64url. */
export async function keyId({ kty, crv, x }: ProofPublicKey): Promise<string> {
  return encodeBase64Url(
    new Uint8Array(await crypto.subtle.digest("SHA-256", encoder.encode(canonicalJson({ kty, crv, x })))),
  );
}

/** A key for verifying; rejects with what WebCrypto throws for a key that it does not take. */
export function importPublicKey({ kty, crv, x }: ProofPublicKey): Promise<CryptoKey> {
  return crypto.subtle.importKey("jwk", { kty, crv, x }, "Ed25519", false, ["verify"]);
}

const MAX_KEYS = 100;

/**
 * Reads public keys: one JSON Web Key, a list of them, or a JWK Set (RFC 7517, 5) with no other
 * member. Returns a sentence for any other value.
 */
export function readPublicKeys(foreign: unknown): readonly ProofPublicKey[] | string {
  const plain = snapshot(foreign);
  if (!plain.ok) return NO_KEY;
  const { value } = plain;
  const list = listOf(value);
  if (typeof list === "string") return list;
  if (list.length > MAX_KEYS) return `It has ${list.length} keys; the most are ${MAX_KEYS}.`;
  const keys: ProofPublicKey[] = [];
  for (const each of list) {
    const key = readPublicKey(each);
    if (typeof key === "string") return key;
    keys.push(key);
  }
  return keys;
}

/** A file of evidence has `keys` too: taken for a key set, it would vouch for itself. */
function listOf(value: JsonValue): readonly JsonValue[] | string {
  if (isJsonArray(value)) return value;
  if (!isJsonObject(value) || !isJsonArray(value["keys"])) return [value];
  const other = Object.keys(value).find((name) => name !== "keys");
  return other === undefined
    ? value["keys"]
    : `The file is not a key file: it has ${JSON.stringify(other.slice(0, 40))} beside its keys.`;
}

const NO_KEY = "A key is a JSON Web Key of kty OKP and crv Ed25519.";

function readPublicKey(value: JsonValue): ProofPublicKey | string {
  if (!isJsonObject(value) || value["kty"] !== "OKP" || value["crv"] !== "Ed25519") return NO_KEY;
  if (Object.hasOwn(value, "d")) return "This is a private key. Give its public half, without d.";
  if (!isForSignatures(value)) return "`use`, `key_ops` or `alg` of the key excludes the verification of signatures.";
  const { x } = value;
  const bytes = typeof x === "string" ? fromBase64Url(x, 32) : undefined;
  if (typeof x !== "string" || bytes === undefined)
    return "The member x of a key is 32 bytes in base64url, without padding.";
  return hasSmallOrder(bytes)
    ? "The key's point has small order, so every party can sign for it."
    : { kty: "OKP", crv: "Ed25519", x };
}

function isForSignatures({ use = "sig", key_ops: operations = ["verify"], alg = "EdDSA" }: JsonObject): boolean {
  const verifies = Array.isArray(operations) && operations.includes("verify");
  return use === "sig" && verifies && (alg === "EdDSA" || alg === "Ed25519");
}

/** The y of points of order 1, 2, 4 and 8, little-endian, in every spelling below 2^255. A signature under them fits any text. */
const smallOrder: ReadonlySet<string> = /* @__PURE__ */ new Set([
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000000",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
]);

/** The highest bit is the sign of x, and says nothing about the order. */
function hasSmallOrder(bytes: Uint8Array): boolean {
  const y = Array.from(bytes, (byte, at) => (at === 31 ? byte & 127 : byte).toString(16).padStart(2, "0"));
  return smallOrder.has(y.join(""));
}

/**
 * Decodes bytes of this length from their one spelling. Refuses another spelling of the same bytes.
 */
export function fromBase64Url(text: string, byteLength: number): Uint8Array<ArrayBuffer> | undefined {
  const bytes = text.length === Math.ceil((byteLength * 4) / 3) ? decodeBase64Url(text) : undefined;
  return bytes?.length === byteLength ? bytes : undefined;
}
