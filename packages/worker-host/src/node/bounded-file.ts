import { createReadStream, readFileSync, statSync } from "node:fs";

/** The most bytes of a source, a package or a document: a larger file is something else. */
const mostBytes = 33_554_432;

/**
 * Reads a text of at most 32 MiB, also from a pipe.
 *
 * @throws Error as `node:fs` does, and for a larger file before it is in memory
 */
export async function readBoundedText(path: string): Promise<string> {
  const parts: Uint8Array[] = [];
  let byteLength = 0;
  for await (const part of createReadStream(path) as AsyncIterable<Uint8Array>) {
    byteLength += part.length;
    if (byteLength > mostBytes) throw tooLarge(path);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

/**
 * Reads a regular file of at most 32 MiB. A pipe, a device and a folder are none.
 *
 * @returns `undefined` where there is no such file
 * @throws Error as `node:fs` does, and for a larger file before it is in memory
 */
export function readBoundedFile(path: string): Uint8Array | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isFile()) return undefined;
  if (found.size > mostBytes) throw tooLarge(path);
  return readFileSync(path);
}

function tooLarge(path: string): Error {
  return new Error(`${path} is larger than ${mostBytes.toLocaleString("en")} bytes.`);
}
