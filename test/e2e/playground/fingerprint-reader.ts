import type { Page } from "playwright";

interface FingerprintReader {
  readonly setFinger: (finger: boolean) => Promise<void>;
  readonly remove: () => Promise<void>;
}

/** Gives the page's device a fingerprint reader. @param finger whether the finger lies on it */
export async function addFingerprintReader(page: Page, finger: boolean): Promise<FingerprintReader> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  const { authenticatorId } = await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: finger,
      automaticPresenceSimulation: finger,
    },
  });
  return {
    async setFinger(lies) {
      await devtools.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: lies });
    },
    async remove() {
      await devtools.send("WebAuthn.removeVirtualAuthenticator", { authenticatorId });
      await devtools.detach();
    },
  };
}
