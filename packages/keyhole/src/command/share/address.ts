import { createHash } from "node:crypto";
import { chmod, lstat, mkdir, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Unusable, visible } from "../io.ts";

/** The shortest limit among the systems: that of macOS, less its zero. */
const PATH_BYTES = 103;

/** Shared by the processes of one home. */
export interface SharedPlace {
  /** The home. */
  readonly folder: string;
  /** The path of the log. */
  readonly log: string;
}

/**
 * The socket at which the process that has the log open takes other clients. It stands in a folder that its owner alone can enter, so the system decides who connects.
 *
 * @returns `undefined` where the system takes no path of this length
 * @throws {Unusable} for a folder of another owner
 */
export async function addressOf({ folder, log }: SharedPlace): Promise<string | undefined> {
  const home = await realpath(folder);
  const logFolder = await realpath(dirname(log)).catch(() => dirname(log));
  const name = createHash("sha256")
    .update(JSON.stringify([home, logFolder, basename(log)]))
    .digest("hex")
    .slice(0, 16);
  if (process.platform === "win32") return `\\\\.\\pipe\\keyhole-${name}`;
  const run = join(home, "run");
  await mkdir(run, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw new Unusable(visible(`${run} cannot be made: ${error.message}`));
  });
  const found = await lstat(run);
  if (!found.isDirectory() || found.uid !== process.getuid?.())
    throw new Unusable(`${visible(run)} is no folder of this user. Remove it, and start again.`);
  if ((found.mode & 0o077) !== 0) await chmod(run, 0o700);
  const path = join(run, `${name}.sock`);
  return Buffer.byteLength(path) > PATH_BYTES ? undefined : path;
}
