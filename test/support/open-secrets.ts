import type { OpenSecrets, Revealed, SecretCall } from "@keyhole/kernel";
import { secretKeeper, type SecretStore } from "@keyhole/kernel/secrets";

/** A call that may use every secret everywhere, reached no host, and never waits. */
export const anyCall: SecretCall = {
  token: "0123456789abcdef".repeat(2),
  refusal: () => undefined,
  granted: () => [],
  revealed: [],
  after: () => () => {},
};

export const stands = `keyhole-secret.${anyCall.token}.key.`;

/** What a call sees in the place of a value that it did not send. */
export const mark = "*keyhole-secret*";

/** A call that is to hear nothing of this value. */
export async function searching(value: string): Promise<OpenSecrets> {
  return openSecrets({ get: () => value }, { granted: () => ["key"] });
}

export function openSecrets(store: SecretStore, more: Partial<SecretCall> = {}): OpenSecrets {
  return secretKeeper(store).open({ ...anyCall, ...more });
}

export async function valueOf<Value>(revealed: Promise<Revealed<Value>>): Promise<Value> {
  const result = await revealed;
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}
