import { isJsonObject } from "@keyhole/kernel";
import { join } from "node:path";
import type { ApprovalKey } from "@keyhole/mcp";
import { readBoundedText } from "@keyhole/worker-host/node/policy-text";
import { type CommandResult, Unusable, visible } from "../io.ts";
import { parse } from "../json-file.ts";
import { writeWhole } from "../whole-file.ts";
import type { Home } from "./home.ts";
import type { McpParts } from "./parts.ts";

type Folder = Pick<Home, "folder">;

const fileOf = ({ folder }: Folder): string => join(folder, "approvers.json");

/** The approvers who can answer questions; none before the first key. @throws {Unusable} for a file that holds something else */
export async function readApprovers(home: Folder): Promise<readonly ApprovalKey[]> {
  const path = fileOf(home);
  const text = await readBoundedText(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "[]";
    throw new Unusable(`${visible(path)} cannot be read.`, { cause: error });
  });
  const value = parse(text, path);
  const keys = Array.isArray(value) ? value.flatMap(keyOf) : [];
  if (!Array.isArray(value) || keys.length !== value.length)
    throw new Unusable(`${visible(path)} is no list of approvers.`);
  return keys;
}

function keyOf(value: unknown): readonly ApprovalKey[] {
  if (!isJsonObject(value)) return [];
  const { approver, digest } = value;
  return typeof approver === "string" && typeof digest === "string" ? [{ approver, digest }] : [];
}

/** Makes a key for a person, in place of the one that they had. The command shows it once. */
export async function addApprover(approver: string, home: Folder, { common }: McpParts): Promise<CommandResult> {
  const { key, digest } = common.newApprovalKey();
  const others = (await readApprovers(home)).filter((each) => each.approver !== approver);
  const text = `${JSON.stringify([...others, { approver, digest }], undefined, 2)}\n`;
  await writeWhole(fileOf(home), text, { mode: 0o600 });
  return { exitCode: 0, output: `The approval key of ${visible(approver)}, which is shown once: ${key}\n` };
}
