import { toForm } from "../../support/unicode.ts";
import { foreignPattern, hiddenCharacters, utf8Length } from "./paths.ts";

/**
 * The length that every store accepts. Workers KV has the least, 512 bytes; a host may need a part
 * of it to separate tenants.
 */
const keyBytes = 384;

/** The fault of a key, as the end of a sentence. */
export function checkKey(key: string): string | undefined {
  if (key === "") return "a key is not empty";
  if (key === "." || key === "..") return "a key is not `.` or `..`";
  return checkKeyPrefix(key);
}

/** The fault of a prefix of keys, as the end of a sentence. */
export function checkKeyPrefix(prefix: string): string | undefined {
  if (!prefix.isWellFormed()) return "a key is well-formed Unicode";
  if (hiddenCharacters.test(prefix)) return "a key has no control characters";
  if (prefix.includes("*")) return "a key has no `*`; a pattern is a prefix as it is, or `*` alone";
  if (utf8Length(prefix) > keyBytes) return `a key has at most ${keyBytes} bytes`;
  return toForm("NFC", prefix) === prefix ? undefined : "a key is in Unicode normalization form C";
}

/** The fault of a pattern for keys, as the end of a sentence. */
export function checkKeyPattern(pattern: string): string | undefined {
  if (pattern === "*") return undefined;
  return foreignPattern.test(pattern) ? "a pattern is the beginning of keys, or `*` alone" : checkKeyPrefix(pattern);
}

/** Whether a pattern touches a key, or any that a list could show. For what forbids: a list may not show what is forbidden to read. */
export function touchesKey(
  pattern: string,
  { key, lists }: { readonly key: string; readonly lists?: boolean },
): boolean {
  return matchKey(pattern, key) || (lists === true && pattern.startsWith(key));
}

/** Whether a pattern grants a key, or all keys that begin so. */
export function matchKey(pattern: string, key: string): boolean {
  return pattern === "*" || key.startsWith(pattern);
}
