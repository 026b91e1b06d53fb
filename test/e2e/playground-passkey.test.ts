import type { Page } from "playwright";
import { describe, expect, it, onTestFinished } from "vitest";
import { startPolicy } from "../../packages/playground/src/kernel/default-policy.ts";
import { applyPolicy, callOf, choose, endOf, field, run, writePolicy } from "./playground/visitor.ts";
import { addFingerprintReader } from "./playground/fingerprint-reader.ts";
import { Visiting } from "./playground/visiting.ts";

const visiting = new Visiting();

/** A device with a fingerprint reader, on which the finger lies, or does not. */
async function fingerprintReader(page: Page): Promise<(finger: boolean) => Promise<void>> {
  const reader = await addFingerprintReader(page, true);
  onTestFinished(reader.remove);
  return reader.setFinger;
}

/** As a person makes one at the page of the approvals desk. */
function makePasskey(page: Page): Promise<object> {
  return page.evaluate(async () => {
    const text = (buffer: ArrayBuffer): string =>
      btoa(String.fromCharCode(...new Uint8Array(buffer)))
        .replaceAll("+", "-")
        .replaceAll("/", "_")
        .replace(/=+$/, "");
    const made = await navigator.credentials.create({
      publicKey: {
        rp: { id: "localhost", name: "localhost" },
        user: { id: new Uint8Array(16), name: "bob", displayName: "bob" },
        challenge: new Uint8Array(32),
        pubKeyCredParams: [-7, -257].map((alg) => ({ type: "public-key" as const, alg })),
        authenticatorSelection: { userVerification: "required" },
      },
    });
    if (!(made instanceof PublicKeyCredential) || !(made.response instanceof AuthenticatorAttestationResponse))
      throw new Error("no passkey");
    const publicKey = text(made.response.getPublicKey() ?? new ArrayBuffer(0));
    const key = { approver: "bob", credentialId: text(made.rawId), publicKey };
    return { rpId: "localhost", origins: [location.origin], keys: [key] };
  });
}

/** A page under a name: browsers give no passkey to one that is reached by numbers. */
async function openNamed(): Promise<Page> {
  const origin = visiting.site.origin.replace("127.0.0.1", "localhost");
  visiting.visitor = await visiting.visits.visit(origin);
  return visiting.visitor.page;
}

async function demandPasskey(page: Page): Promise<void> {
  // A browser makes a passkey for the page with the focus alone, and this one has had other pages.
  await page.bringToFront();
  const passkeys = await makePasskey(page);
  await applyPolicy(page, async () => {
    await writePolicy(page, JSON.stringify({ ...startPolicy, approver: "passkey", passkeys }));
  });
}

async function ask(page: Page): Promise<void> {
  await choose(page, "kv_put");
  await field(page, "key").fill("workspace/signed");
  await run(page);
  await page.getByRole("alertdialog").waitFor();
  // A mouse that never moved allows nothing.
  await page.mouse.move(1, 1);
}

describe("a question whose yes needs a passkey", () => {
  it("is answered by one of the policy, whose owner stands in the decision", async () => {
    const page = await openNamed();
    await fingerprintReader(page);
    await demandPasskey(page);
    await ask(page);
    await page.getByText("A yes needs a passkey of bob.").waitFor();
    await page.getByRole("button", { name: "Allow once" }).click();
    expect(await endOf(page)).toBe("Completed");
    await callOf(page).getByText("Allowed for one call by bob.").waitFor();
  });

  it("stays open where the device does not know its user, and can still be denied", async () => {
    const page = await openNamed();
    const setFinger = await fingerprintReader(page);
    await demandPasskey(page);
    await setFinger(false);
    await ask(page);
    await page.getByRole("button", { name: "Allow once" }).click();
    await page.getByText("No passkey was used").waitFor();
    await page.getByRole("button", { name: "Deny" }).click();
    expect(await endOf(page)).toBe("Refused");
  });
});
