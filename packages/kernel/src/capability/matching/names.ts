/** Names that an operator gives to databases, tools and secrets, and the patterns that grant them. */

const name = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

/** The fault of a name, as the end of a sentence. */
export function checkName(text: string): string | undefined {
  return name.test(text)
    ? undefined
    : "a name has 1 to 128 letters, digits, `_`, `.` or `-`, and begins with none of the last two";
}

/** The fault of a pattern for names, as the end of a sentence. */
export function checkNamePattern(pattern: string): string | undefined {
  if (pattern === "*") return undefined;
  const stem = pattern.endsWith("*") ? pattern.slice(0, -1) : pattern;
  return stem.includes("*") ? "`*` stands alone or at the end" : checkName(stem);
}

/** Whether a pattern grants a name: `*` every one, `logs_*` every one that begins so, any other itself alone. */
export function matchName(pattern: string, text: string): boolean {
  return pattern === text || (pattern.endsWith("*") && text.startsWith(pattern.slice(0, -1)));
}
