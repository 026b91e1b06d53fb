import type { ApprovalRequest, PasskeyAssertion } from "@keyhole/kernel";
import { membersOf } from "@keyhole/kernel/foreign";
import { escaped, page, pageHeaders, questionFacts } from "./page.ts";

/** The only script of the pages: it asks the browser for a passkey. It reads what it signs from the form, which the server wrote. */
const script = `const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
const form = document.querySelector("form");
const status = document.querySelector("[role=status]");
const get = async ({ challenge, rp, ids }) => {
  const allowCredentials = ids.split(" ").map((id) => ({ type: "public-key", id: bytes(id) }));
  const publicKey = { challenge: bytes(challenge), rpId: rp, allowCredentials, userVerification: "required" };
  const { rawId, response } = await navigator.credentials.get({ publicKey });
  const { authenticatorData, clientDataJSON, signature } = response;
  return { credentialId: text(rawId), authenticatorData: text(authenticatorData), clientDataJSON: text(clientDataJSON), signature: text(signature) };
};
const create = async ({ rp }, approver) => {
  const random = (length) => crypto.getRandomValues(new Uint8Array(length));
  const { rawId, response } = await navigator.credentials.create({ publicKey: {
    rp: { id: rp, name: rp }, user: { id: random(16), name: approver, displayName: approver }, challenge: random(32),
    pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: "public-key", alg })),
    authenticatorSelection: { residentKey: "preferred", userVerification: "required" }, attestation: "none",
  } });
  const key = { approver, credentialId: text(rawId), publicKey: text(response.getPublicKey()) };
  return { rpId: rp, origins: [location.origin], keys: [key] };
};
form.addEventListener("submit", async (event) => {
  const { submitter } = event;
  if (submitter.value === "deny" || form.elements.passkey?.value) return;
  event.preventDefault();
  status.textContent = "Waiting for the passkey.";
  try {
    if (submitter.value === "create") status.textContent = JSON.stringify(await create(form.dataset, form.elements.approver.value), undefined, 2);
    else {
      form.elements.passkey.value = JSON.stringify(await get(form.dataset));
      form.requestSubmit(submitter);
    }
  } catch (error) {
    status.textContent = "No passkey was used: " + error.message;
  }
});`;

let headers: Promise<Readonly<Record<string, string>>> | undefined;

/** As of every page, and this one script, by its digest. */
export function scriptHeaders(): Promise<Readonly<Record<string, string>>> {
  headers ??= crypto.subtle.digest("SHA-256", new TextEncoder().encode(script)).then((digest) => {
    const hash = btoa(String.fromCharCode(...new Uint8Array(digest)));
    const policy = pageHeaders["content-security-policy"] ?? "";
    return { ...pageHeaders, "content-security-policy": `${policy}; script-src 'sha256-${hash}'` };
  });
  return headers;
}

/** The question, for an answer with a passkey. */
export function signedQuestionPage(question: ApprovalRequest, challenge: string): string {
  const { rpId = "", keys = [] } = question.passkey ?? {};
  const ids = keys.map(({ credentialId }) => credentialId).join(" ");
  return page(
    question.title,
    `${questionFacts(question)}
<form method="post" autocomplete="off" data-challenge="${escaped(challenge)}" data-rp="${escaped(rpId)}" data-ids="${escaped(ids)}">
<input name="passkey" type="hidden">
<button name="answer" value="deny">Deny</button><button name="answer" value="allow">Allow this call once, with a passkey</button>
</form>
<p role="status"></p>
<p>A yes proves that a device with one of the policy's passkeys checked its user and signed this very question. It does not prove that the person read this page,
or that the page showed the truth: a browser that an agent drives can show another one.</p>
<script>${script}</script>`,
  );
}

/** A person makes a passkey here. It counts when an author of the policy puts it there. */
export function passkeyPage(rpId: string): string {
  return page(
    "A passkey for approvals",
    `<p>The passkey stays in your device. Send the text that appears to the person who keeps the policy. It is the policy's member <code>passkeys</code>; a second person's
entry goes to its <code>keys</code>.</p>
<form data-rp="${escaped(rpId)}" autocomplete="off">
<label>Your name as an approver <input name="approver" required maxlength="256" autocomplete="off"></label>
<button name="answer" value="create">Make a passkey</button>
</form>
<pre role="status"></pre>
<script>${script}</script>`,
  );
}

const members = ["credentialId", "authenticatorData", "clientDataJSON", "signature"] as const;

/** The script's message; `undefined` for a message that it never sends. */
export function assertionIn(text: string): PasskeyAssertion | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const [credentialId, authenticatorData, clientDataJSON, signature] = members.map((name) => memberOf(value, name));
    return credentialId && authenticatorData && clientDataJSON && signature
      ? { credentialId, authenticatorData, clientDataJSON, signature }
      : undefined;
  } catch {
    return undefined;
  }
}

function memberOf(value: unknown, name: string): string | undefined {
  const { [name]: member } = membersOf(value);
  return typeof member === "string" ? member : undefined;
}
