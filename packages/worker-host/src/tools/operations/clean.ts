import { visible } from "@keyhole/kernel";

/** UTF-16 units of one foreign name or path, before its invisible characters are written out. */
const nameLength = 1_024;

/**
 * A foreign text in one line: what a person does not see, a terminal obeys or a line ends with is an escape of JSON. A long text ends in `…`.
 *
 * @param length UTF-16 units that are kept
 */
export function lineOf(text: string, length: number = nameLength): string {
  const kept = text.length > length ? `${text.slice(0, length)}…` : text;
  return visible(kept.toWellFormed()).replace(/[\t\r\n]/g, (unit) => escapes.get(unit) ?? " ");
}

const escapes: ReadonlyMap<string, string> = new Map([
  ["\t", String.raw`\t`],
  ["\r", String.raw`\r`],
  ["\n", String.raw`\n`],
]);

/** Decodes bytes as UTF-8. Malformed bytes become U+FFFD. */
export function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
