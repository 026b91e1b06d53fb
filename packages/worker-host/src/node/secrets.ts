import { knownOptions } from "@keyhole/kernel/foreign";
import type { SecretStore } from "@keyhole/kernel/secrets";

export interface EnvironmentSecretsOptions {
  /** In front of the name, which stands in upper case and with `_` for `-`. Default `KEYHOLE_SECRET_`. */
  readonly prefix?: string;
  /** Default: that of this process, as it is when a secret is asked for. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Secrets from the environment: `api-key` is `KEYHOLE_SECRET_API_KEY`.
 *
 * @example
 * const kernel = await createKernel({ host: nodeHost(), secrets: secretKeeper(environmentSecrets()) });
 */
export function environmentSecrets(options: EnvironmentSecretsOptions = {}): SecretStore {
  const { prefix = "KEYHOLE_SECRET_", env = process.env } = knownOptions(
    options,
    { prefix: true, env: true },
    "environmentSecrets",
  );
  const variable = (name: string): string => prefix + name.toUpperCase().replaceAll("-", "_");
  const get = (name: string): string | undefined => env[variable(name)];
  return {
    get,
    list: (start) =>
      Object.keys(env)
        // Windows keeps the case in which a variable was set.
        .filter((key) => key.toUpperCase().startsWith(variable(start).toUpperCase()))
        .map((key) => key.slice(prefix.length))
        .filter((name) => get(name) !== undefined),
  };
}
