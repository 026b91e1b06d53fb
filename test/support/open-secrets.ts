import type { OpenSecrets, SecretKeeper } from "@keyhole/kernel";
import { secretKeeper, type SecretStore } from "@keyhole/kernel/secrets";

type SecretCall = Parameters<SecretKeeper["open"]>[0];

/** A call that may use every secret everywhere. */
export const anyCall: SecretCall = { token: "0123456789abcdef".repeat(2), refusal: () => undefined };

export const stands = `keyhole-secret.${anyCall.token}.key.`;

/** What a call sees in the place of a value. */
export const mark: string = stands;

/** A call that is to hear nothing of this value. */
export async function searching(value: string): Promise<OpenSecrets> {
  const secrets = openSecrets({ get: () => value });
  await secrets.reveal(stands, "example.com");
  return secrets;
}

export function openSecrets(store: SecretStore, more: Partial<SecretCall> = {}): OpenSecrets {
  return secretKeeper(store).open({ ...anyCall, ...more });
}
