import { type FileHandle, open } from "node:fs/promises";
import { syncFolderOf } from "./sync-folder.ts";

const CHUNK_BYTES = 262_144;

/**
 * Copies the torn tail of a log to a file beside it, before the log is cut: the bytes can be evidence. An earlier tail of the same offset stays.
 *
 * @throws where the copy cannot be made durable. The log stays as it was.
 */
export async function keepTail(
  log: FileHandle,
  path: string,
  { end, size }: { readonly end: number; readonly size: number },
): Promise<void> {
  const copy = await createBeside(`${path}.torn-${end}`);
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    for (let at = end; at < size;) {
      const { bytesRead } = await log.read(chunk, 0, Math.min(CHUNK_BYTES, size - at), at);
      if (bytesRead === 0) throw new Error("the log became shorter while its torn tail was copied");
      await copy.writeFile(chunk.subarray(0, bytesRead));
      at += bytesRead;
    }
    await copy.sync();
  } finally {
    await copy.close();
  }
  await syncFolderOf(path);
}

async function createBeside(path: string): Promise<FileHandle> {
  for (let i = 1; ; i++) {
    try {
      return await open(i === 1 ? path : `${path}-${i}`, "wx", 0o600);
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
  }
}
