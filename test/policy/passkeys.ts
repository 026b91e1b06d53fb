import type { ApprovalAnswer, Approver, PasskeyAssertion, Passkeys } from "@keyhole/kernel";
import { type Authenticator, clientDataOf, newAuthenticator, origin, rpId } from "../support/authenticator.ts";

export const bob = await newAuthenticator("bob");
export const eve = await newAuthenticator("eve");

export const passkeysOf = (...authenticators: Authenticator[]): Passkeys => ({
  rpId,
  origins: [origin],
  keys: authenticators.map(({ passkey }) => passkey),
});

export const demanding = (...authenticators: Authenticator[]) => ({
  version: "1",
  posture: "standard",
  approver: "passkey",
  passkeys: passkeysOf(...authenticators),
});

type Scope = "once" | "session";
export const yes = (passkey?: PasskeyAssertion, scope: Scope = "once", approver = "bob"): ApprovalAnswer => ({
  answer: "allow",
  scope,
  approver,
  ...(passkey && { passkey }),
});

/** Signs what it is asked, as a browser has it signed. */
export const signing =
  (authenticator: Authenticator, scope: Scope = "once"): Approver =>
  async (request) => {
    const assertion = await authenticator.sign({ clientData: await clientDataOf(request, scope) });
    return yes(assertion, scope, authenticator.passkey.approver);
  };
