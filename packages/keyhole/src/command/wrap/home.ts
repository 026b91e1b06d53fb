import { mkdir, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { JsonValue } from "@keyhole/kernel";
import type { McpEndpoint } from "@keyhole/mcp";
import { type CommandIo, type CommandOptions, Unusable } from "../io.ts";
import { optionOf } from "../options.ts";
import { readPolicy } from "../policy/read-policy.ts";
import { writeWhole } from "../whole-file.ts";
import { askingPolicy } from "./suggest.ts";

/** The folder of one wrapped server. */
export interface Home {
  readonly folder: string;
  readonly pins: string;
  readonly policy: JsonValue;
}

/** The folder of a server, by its name or the option `--home`. */
export function homeFolder(name: string, options: CommandOptions, io: CommandIo): string {
  return resolve(io.folder, optionOf(options, "home") ?? join(homedir(), ".keyhole", name));
}

/** @throws {Unusable} for a folder that cannot be used, or a policy that is refused */
export async function openHome(
  name: string,
  endpoint: McpEndpoint,
  options: CommandOptions,
  io: CommandIo,
): Promise<Home> {
  const folder = homeFolder(name, options, io);
  const policyFile = join(folder, "policy.json");
  try {
    await makeFolder(folder);
    const first = `${JSON.stringify(askingPolicy(endpoint), undefined, 2)}\n`;
    await writeWhole(policyFile, first, { isNew: true, mode: 0o600 }).catch(unlessItIsThere);
    await readFile(policyFile);
  } catch (error) {
    if (error instanceof Unusable) throw error;
    throw new Unusable(`${folder} cannot be used: ${error instanceof Error ? error.message : ""}`, { cause: error });
  }
  return {
    folder,
    pins: join(folder, "pins.json"),
    policy: await readPolicy(policyFile, io.files),
  };
}

export async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: Error) => {
    throw new Unusable(`${folder} cannot be used: ${error.message}`, { cause: error });
  });
}

/** One for all starts: limits, labels, revocations and approvals are in it. */
export function logOf(folder: string): string {
  return join(folder, "audit.jsonl");
}

function unlessItIsThere(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}
