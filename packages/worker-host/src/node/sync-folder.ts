import { open } from "node:fs/promises";
import { dirname } from "node:path";

/** A new file is only there after a crash of the machine when its folder was written too. */
export async function syncFolderOf(path: string): Promise<void> {
  const folder = await open(dirname(path), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
