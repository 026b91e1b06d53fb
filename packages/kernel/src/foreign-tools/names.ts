import { hashText } from "../hash/blake3-hash.ts";

const MOST_LENGTH = 64;

/** The name of a source: it begins the name of each of its tools, up to the first `_`. */
export function checkSourceName(name: string): void {
  if (!/^[a-z][a-z0-9]{0,19}$/.test(name))
    throw new TypeError(`The name of a source has 1 to 20 lower-case letters and digits; got ${JSON.stringify(name)}.`);
}

/**
 * The kernel's name for a tool of a source: the source's name, then the tool's. A name that the
 * kernel does not accept is rewritten in its letters and gets eight digits of its own digest. So
 * two such names stay different.
 */
export function toolName(source: string, serverName: string): string {
  const plain = `${source}_${serverName}`;
  if (/^[a-z][a-z0-9_]*$/.test(serverName) && plain.length <= MOST_LENGTH) return plain;
  const letters = serverName
    .replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    .replaceAll(/[^a-z0-9_]/g, "_")
    .replaceAll(/_+/g, "_");
  const digest = hashText(serverName.toWellFormed()).slice(-8);
  return `${`${source}_${letters}`.replace("__", "_").slice(0, MOST_LENGTH - digest.length - 1)}_${digest}`;
}
