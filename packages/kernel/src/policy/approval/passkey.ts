import { decodeBase64Url, encodeBase64Url } from "../../bytes/base64.ts";
import { canonicalJson } from "../../json/canonical-json.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../json/json.ts";
import { membersOf, shortTextOf } from "../../support/foreign.ts";
import type { ArgumentCondition, Passkeys } from "../document/policy.ts";
import type { ApprovalProof, PasskeyAssertion } from "../proof/proof.ts";
import type { ApprovalRequest } from "./approval.ts";

/** The content that a passkey signs: the request, and the scope of the approval. */
export interface PasskeyQuestion extends Pick<
  ApprovalRequest,
  "approvalId" | "tool" | "toolHash" | "argsHash" | "grantHash" | "policyHash" | "caller" | "sessionId"
> {
  readonly scope: ApprovalProof["scope"];
  readonly pattern: readonly ArgumentCondition[] | null;
  /** RFC 3339: when the question closes. */
  readonly askedUntil: string;
}

/** The question of a request, for a yes of this scope. */
export function passkeyQuestion(
  { hasBody, expiresAt, ...request }: ApprovalRequest,
  scope: ApprovalProof["scope"],
  pattern?: readonly ArgumentCondition[],
): PasskeyQuestion {
  const { approvalId, tool, toolHash, argsHash, grantHash, policyHash, caller, sessionId } = request;
  const asked = { approvalId, tool, toolHash, argsHash, grantHash, policyHash, caller, sessionId };
  if (hasBody) return { ...asked, scope: "once", pattern: null, askedUntil: expiresAt };
  return { ...asked, scope, pattern: (scope === "pattern" && pattern) || null, askedUntil: expiresAt };
}

/**
 * The `challenge` for `navigator.credentials.get`, in base64url: SHA-256 over the canonical JSON (RFC 8785) of tool, arguments, grants, policy, caller, session, scope and
 * expiry. A yes to another question has another one.
 *
 * @param scope Of the answer that it is for.
 * @param pattern Of an answer for a pattern, before its sending.
 * @example
 * const challenge = await passkeyChallenge(request, "once");
 */
export async function passkeyChallenge(
  request: ApprovalRequest,
  scope: ApprovalProof["scope"],
  pattern?: readonly ArgumentCondition[],
): Promise<string> {
  return challengeOf(passkeyQuestion(request, scope, pattern));
}

async function challengeOf(question: PasskeyQuestion): Promise<string> {
  const signed = { v: 1, for: "keyhole.approval", ...question };
  return encodeBase64Url(await sha256(utf8(canonicalJson(signed))));
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new TextEncoder().encode(text));
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

/** base64url characters of one member. The signature of an RSA key of 4,096 bits has 683. */
const MOST_CHARACTERS = 4_096;

/** An assertion as an approver gave it. A member that is missing is an empty text, and verifies nothing. */
export function readAssertion(foreign: unknown): PasskeyAssertion {
  const parts = membersOf(foreign);
  const read = (name: keyof PasskeyAssertion): string => shortTextOf(parts[name], MOST_CHARACTERS);
  return {
    credentialId: read("credentialId"),
    authenticatorData: read("authenticatorData"),
    clientDataJSON: read("clientDataJSON"),
    signature: read("signature"),
  };
}

/**
 * Why an assertion is no yes of this approver to this question (Web Authentication Level 3, section 7.2); `undefined` where it is one. The counter of the authenticator is
 * not looked at: synchronized passkeys have none, and the challenge of a question is never used for another one.
 */
export async function assertionFault(
  { rpId, origins, keys }: Passkeys,
  question: PasskeyQuestion,
  approver: string,
  assertion: PasskeyAssertion,
): Promise<string | undefined> {
  const key = keys.find(({ credentialId }) => credentialId === assertion.credentialId);
  if (!key) return "The policy has no passkey with the credential id of the answer.";
  if (key.approver !== approver) return `The passkey is of another approver than ${approver}.`;
  const clientData = decodeBase64Url(assertion.clientDataJSON);
  const authenticatorData = decodeBase64Url(assertion.authenticatorData);
  const signature = decodeBase64Url(assertion.signature);
  if (!clientData || !authenticatorData || !signature) return "The assertion of the passkey is not in base64url.";
  const fault =
    clientDataFault(clientData, await challengeOf(question), origins) ??
    authenticatorFault(authenticatorData, await sha256(utf8(rpId)));
  if (fault !== undefined) return fault;
  const signed = new Uint8Array([...authenticatorData, ...(await sha256(clientData))]);
  return (await isSignedBy(key.publicKey, signature, signed))
    ? undefined
    : "The signature is not one of the passkey over this question.";
}

/** Section 5.8.1. */
function clientDataFault(bytes: Uint8Array, expected: string, origins: readonly string[]): string | undefined {
  const { type, challenge, origin, crossOrigin, topOrigin } = jsonObjectIn(bytes);
  if (type !== "webauthn.get") return "The passkey signed a value that is not an answer.";
  if (challenge !== expected) return "The passkey signed the answer to another question.";
  if (typeof origin !== "string" || !origins.includes(origin))
    return "The policy does not name the page that asked for the passkey.";
  const isFramed = crossOrigin === true || topOrigin !== undefined;
  return isFramed ? "The page that asked for the passkey was in a frame of another page." : undefined;
}

function jsonObjectIn(bytes: Uint8Array): JsonObject {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    const value = JSON.parse(text) as JsonValue;
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

const RP_HASH_BYTES = 32;
/** Hash, flags and counter of every assertion. */
const SHORTEST_BYTES = 37;
const USER_PRESENT = 1;
const USER_VERIFIED = 4;

/** Section 6.1. */
function authenticatorFault(data: Uint8Array, rpHash: Uint8Array): string | undefined {
  if (data.length < SHORTEST_BYTES || !rpHash.every((byte, at) => data[at] === byte))
    return "The passkey belongs to another domain than the policy's.";
  const flags = data[RP_HASH_BYTES] ?? 0;
  const isVerified = (flags & USER_PRESENT) !== 0 && (flags & USER_VERIFIED) !== 0;
  return isVerified ? undefined : "The device did not verify its user (PIN, fingerprint or face).";
}

/** By the first bytes of a SubjectPublicKeyInfo, which name the algorithm. */
const algorithms = [
  {
    starts: "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE",
    key: { name: "ECDSA", namedCurve: "P-256" },
    verify: { name: "ECDSA", hash: "SHA-256" },
  },
  { starts: "MCowBQYDK2VwAyEA", key: { name: "Ed25519" }, verify: { name: "Ed25519" } },
  { starts: "MI", key: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }, verify: { name: "RSASSA-PKCS1-v1_5" } },
] as const;

async function isSignedBy(
  publicKey: string,
  signature: Uint8Array<ArrayBuffer>,
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const algorithm = algorithms.find(({ starts }) => publicKey.startsWith(starts));
  const spki = decodeBase64Url(publicKey);
  if (!algorithm || !spki) return false;
  const value = algorithm.key.name === "ECDSA" ? joinedSignature(signature) : signature;
  if (!value) return false;
  try {
    const key = await crypto.subtle.importKey("spki", spki, algorithm.key, false, ["verify"]);
    return await crypto.subtle.verify(algorithm.verify, key, value, signed);
  } catch {
    // A point that is not on the curve, or an algorithm that this engine lacks: no yes.
    return false;
  }
}

const SEQUENCE = 0x30;
const INTEGER = 0x02;
const HALF_BYTES = 32;

/** WebAuthn gives an ECDSA signature as ASN.1 (RFC 3279, 2.2.3), WebCrypto takes its two numbers side by side. */
function joinedSignature(der: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  if (der[0] !== SEQUENCE || der[1] !== der.length - 2) return undefined;
  const joined = new Uint8Array(2 * HALF_BYTES);
  let at = 2;
  for (const end of [HALF_BYTES, 2 * HALF_BYTES]) {
    const length = der[at + 1] ?? 0;
    const number = der.subarray(at + 2, at + 2 + length);
    if (der[at] !== INTEGER || length === 0 || number.length !== length) return undefined;
    const digits = number[0] === 0 ? number.subarray(1) : number;
    if (digits.length > HALF_BYTES) return undefined;
    joined.set(digits, end - digits.length);
    at += 2 + length;
  }
  return at === der.length ? joined : undefined;
}
