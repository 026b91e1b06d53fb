/** The form of a secret's name: it needs no escape in a header, a URL or JSON. */
const secretName: RegExp = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * The second half of a call's seed. Only the call itself knows it while it runs: its random numbers
 * do not show it, because the first half hides it.
 */
export function secretToken(seed: string): string {
  return seed.slice(32);
}

/** The beginning of every placeholder of every call. */
export const placeholderMark = "keyhole-secret.";

/** Stands for a secret inside one call, and means nothing in any other. A run that is replayed with its seed sees the same text. */
export function placeholder(token: string, name: string): string {
  if (!secretName.test(name)) throw new TypeError("a secret's name has 1 to 64 letters, digits, `_` or `-`");
  return `${placeholderMark}${token}.${name}.`;
}
