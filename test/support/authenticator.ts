import type { ApprovalRequest, ArgumentCondition, Passkey, PasskeyAssertion } from "@keyhole/kernel";
import { passkeyChallenge } from "@keyhole/kernel";

/** An authenticator in software, as the one in a phone or a laptop is seen from outside (Web Authentication Level 3). */
export interface Authenticator {
  readonly passkey: Passkey;
  /** Signs what it is given, whatever that is: to refuse it is for the kernel. */
  sign(parts: SignedParts): Promise<PasskeyAssertion>;
}

export interface SignedParts {
  readonly clientData: object | string;
  readonly rpId?: string;
  /** Bit 0: a person is there. Bit 2: the device knows who. */
  readonly flags?: number;
}

export type KeyAlgorithm = "ECDSA" | "Ed25519" | "RSASSA-PKCS1-v1_5";

const generated = {
  ECDSA: { name: "ECDSA", namedCurve: "P-256" },
  Ed25519: { name: "Ed25519" },
  "RSASSA-PKCS1-v1_5": {
    name: "RSASSA-PKCS1-v1_5",
    modulusLength: 2_048,
    publicExponent: new Uint8Array([1, 0, 1]),
    hash: "SHA-256",
  },
} as const satisfies Record<KeyAlgorithm, object>;

export const rpId = "approvals.example";
export const origin = "https://approvals.example";

const base64Url = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url");
const sha256 = async (bytes: Uint8Array): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(bytes)));
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

export async function newAuthenticator(approver: string, name: KeyAlgorithm = "ECDSA"): Promise<Authenticator> {
  const pair = (await crypto.subtle.generateKey(generated[name], true, ["sign", "verify"])) as CryptoKeyPair;
  const spki = new Uint8Array(await crypto.subtle.exportKey("spki", pair.publicKey));
  const credentialId = base64Url(crypto.getRandomValues(new Uint8Array(16)));
  return {
    passkey: { approver, credentialId, publicKey: base64Url(spki) },
    async sign({ clientData, rpId: madeFor = rpId, flags = 0b101 }) {
      const data = utf8(typeof clientData === "string" ? clientData : JSON.stringify(clientData));
      const authenticatorData = new Uint8Array([...(await sha256(utf8(madeFor))), flags, 0, 0, 0, 7]);
      const signed = new Uint8Array([...authenticatorData, ...(await sha256(data))]);
      const raw = new Uint8Array(await crypto.subtle.sign({ name, hash: "SHA-256" }, pair.privateKey, signed));
      return {
        credentialId,
        authenticatorData: base64Url(authenticatorData),
        clientDataJSON: base64Url(data),
        signature: base64Url(name === "ECDSA" ? derOf(raw) : raw),
      };
    },
  };
}

/** What a browser writes beside the challenge (section 5.8.1). */
export async function clientDataOf(
  request: ApprovalRequest,
  scope: "once" | "session" | "pattern" = "once",
  pattern?: readonly ArgumentCondition[],
): Promise<Record<string, unknown>> {
  const challenge = await passkeyChallenge(request, scope, pattern);
  return { type: "webauthn.get", challenge, origin, crossOrigin: false };
}

/** Two numbers side by side as ASN.1. */
function derOf(raw: Uint8Array): Uint8Array {
  const numbers = [raw.subarray(0, 32), raw.subarray(32)].map((half) => {
    const first = half.findIndex((byte) => byte !== 0);
    const digits = [...half.subarray(first < 0 ? 31 : first)];
    if (digits[0]! >= 128) digits.unshift(0);
    return [2, digits.length, ...digits];
  });
  const body = numbers.flat();
  return new Uint8Array([0x30, body.length, ...body]);
}
