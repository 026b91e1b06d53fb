import {
  type ApprovalAnswer,
  type ApprovalRequest,
  decodeBase64Url,
  encodeBase64Url,
  passkeyChallenge,
  type PasskeyAssertion,
} from "@keyhole/kernel";

export type Allow = Extract<ApprovalAnswer, { answer: "allow" }>;

/**
 * The answer, signed by a passkey of the policy over this very question and this scope. The approver is the owner of the passkey.
 *
 * @throws where the browser gives no assertion: the person said no, there is no such passkey, or the page has another domain
 */
export async function signed(request: ApprovalRequest, answer: Allow): Promise<Allow> {
  const { rpId, keys } = request.passkey ?? { rpId: "", keys: [] };
  const pattern = answer.scope === "pattern" ? answer.pattern : undefined;
  const challenge = await passkeyChallenge(request, answer.scope, pattern);
  const passkey = await assertionOf(challenge, rpId, keys);
  const owner = keys.find(({ credentialId }) => credentialId === passkey.credentialId);
  return { ...answer, approver: owner?.approver ?? answer.approver, passkey };
}

type Keys = NonNullable<ApprovalRequest["passkey"]>["keys"];

async function assertionOf(challenge: string, rpId: string, keys: Keys): Promise<PasskeyAssertion> {
  const allowCredentials = keys.map(({ credentialId }) => ({ type: "public-key" as const, id: bytesOf(credentialId) }));
  const publicKey = { challenge: bytesOf(challenge), rpId, allowCredentials, userVerification: "required" as const };
  const credential = await navigator.credentials.get({ publicKey });
  if (!(credential instanceof PublicKeyCredential) || !(credential.response instanceof AuthenticatorAssertionResponse))
    throw new Error("The browser gave no passkey.");
  const { authenticatorData, clientDataJSON, signature } = credential.response;
  return {
    credentialId: textOf(credential.rawId),
    authenticatorData: textOf(authenticatorData),
    clientDataJSON: textOf(clientDataJSON),
    signature: textOf(signature),
  };
}

/** The kernel checked the policy, so that its ids are base64url; those of an edge may be anything. */
function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const bytes = decodeBase64Url(text);
  if (bytes === undefined) throw new Error("The question names a passkey that is not in base64url.");
  return bytes;
}

function textOf(buffer: ArrayBuffer): string {
  return encodeBase64Url(new Uint8Array(buffer));
}
