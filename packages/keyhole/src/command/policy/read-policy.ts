import { stat } from "node:fs/promises";
import { join } from "node:path";
import { type JsonValue, policy as policyOf, type PolicyDocument } from "@keyhole/kernel";
import { parsePolicyText } from "@keyhole/worker-host/node/policy-text";
import type { ConfigFile } from "@keyhole/worker-host/node/config";
import type { ChosenConfig } from "../config.ts";
import { type CommandFiles, type CommandIo, readText, Unusable, visible } from "../io.ts";

/** The default policy file. */
const usualNames = ["policy.json", "policy.yaml", "policy.yml"];

/** The policy grants no access, and tier 2 asks. */
const withoutGrants: JsonValue = { version: "1", posture: "standard" };

export interface ChosenPolicy {
  readonly document: JsonValue | PolicyDocument;
  /** As shown to the person; `undefined` where there is none. */
  readonly file: string | undefined;
}

/**
 * The policy that a person named, else that of the configuration, else the one of the working directory, else one without grants. The limits of the configuration hold over each.
 *
 * @throws {Unusable} for a policy that cannot be read or is refused
 */
export async function choosePolicy(
  typed: unknown,
  io: CommandIo,
  { found: config }: ChosenConfig,
): Promise<ChosenPolicy> {
  if (typeof typed !== "string" && config?.config.document.policy !== undefined)
    return { document: await underLimits(config, undefined), file: config.file };
  const file = typeof typed === "string" ? typed : await usual(io.folder);
  const document = file === undefined ? withoutGrants : await readPolicy(file, io.files);
  return { document: config ? await underLimits(config, document) : document, file };
}

/**
 * The policy now, where another one held before.
 *
 * @param before its file
 * @throws {Unusable} as {@link choosePolicy}, and for a file that is gone: an editor or a change of branches removes it for a moment, and its denials must not go with it
 */
export async function chooseAgain(
  before: string | undefined,
  ...now: Parameters<typeof choosePolicy>
): Promise<ChosenPolicy> {
  const chosen = await choosePolicy(...now);
  if (chosen.file === undefined && before !== undefined) throw new Unusable(`${visible(before)} is gone.`);
  return chosen;
}

/** @throws {Unusable} for limits that the policy has too */
async function underLimits(config: ConfigFile, instead: JsonValue | undefined): Promise<PolicyDocument> {
  const { limitedPolicy } = await import("@keyhole/worker-host/node/config");
  try {
    return limitedPolicy(config, instead);
  } catch (error) {
    if (error instanceof TypeError) throw new Unusable(visible(error.message), { cause: error });
    throw error;
  }
}

async function usual(folder: string): Promise<string | undefined> {
  for (const name of usualNames)
    if ((await stat(join(folder, name)).catch(() => undefined))?.isFile() === true) return name;
  return undefined;
}

/**
 * A document alone, for commands that no call waits for. The policy of calls comes from {@link choosePolicy}.
 *
 * @throws {Unusable} with the line
 */
export async function readPolicy(file: string, files: CommandFiles): Promise<JsonValue> {
  const read = parsePolicyText(await readText(file, files), /\.ya?ml$/i.test(file) ? "yaml" : undefined);
  if (!read.ok) throw new Unusable(visible(`${file}:${read.at.line}:${read.at.column} ${read.message}`));
  const { document, locate } = read.value;
  const loaded = policyOf(document);
  if (loaded.ok) return document;
  const { path, message, hint } = loaded.error;
  const { line, column } = locate(path);
  throw new Unusable(visible(`${file}:${line}:${column} ${message} ${hint}`.trimEnd()));
}
