import type { JsonValue } from "@keyhole/kernel";
import { type EnclosedKeys, pinKeys, type TrustedKeys, trustKeys } from "@keyhole/kernel/audit";
import { type CommandFiles, type CommandOptions, Unusable, visible } from "../io.ts";
import { readOption } from "../json-file.ts";

/**
 * The keys that the person trusts: those of `--keys`; with `--pin`, those with these thumbprints out of `--keys`, or else out of the file.
 *
 * @throws {Unusable} when there is none: the check that the caller asked for is impossible.
 */
export async function readTrust(
  options: CommandOptions,
  files: CommandFiles,
  enclosed?: EnclosedKeys,
): Promise<TrustedKeys | undefined> {
  const keys = await readOption("keys", options, files);
  const pins = Array.isArray(options["pin"]) ? options["pin"].map(String) : undefined;
  if (pins === undefined) return keys === undefined ? undefined : usable(await trustKeys(keys), "--keys");
  const source: JsonValue | EnclosedKeys | undefined = keys ?? enclosed;
  if (source === undefined)
    throw new Unusable("--pin names a key that is not here: it did not come with the file. Give --keys FILE.");
  return usable(await pinKeys(pins, source), "--pin");
}

function usable(keys: TrustedKeys | string, option: string): TrustedKeys {
  if (typeof keys === "string") throw new Unusable(visible(`${option}: ${keys}`));
  return keys;
}
