const marks: Readonly<Record<string, string>> = { "-": "__d", ".": "__p" };

/** Of a tool of a page, before it is written as a name of the kernel. */
const prefix = "page_";

const mostLength = 64;

/**
 * The name of a page's tool as a name of the kernel, which has lower-case letters, digits and `_` only; `undefined` where there is none. No two names become one: what the kernel does not
 * take is written as `__` with a letter behind it.
 */
export function kernelName(name: string): string | undefined {
  const parts = Array.from(name, (character, at) => {
    if (/[a-z0-9]/.test(character)) return character;
    if (/[A-Z]/.test(character)) return `__u${character.toLowerCase()}`;
    if (character === "_") return /^[a-z0-9]?$/.test(name[at + 1] ?? "") ? "_" : "__s";
    return marks[character];
  });
  if (parts.length === 0 || parts.includes(undefined)) return undefined;
  const written = prefix + parts.join("");
  return written.length > mostLength ? undefined : written;
}
