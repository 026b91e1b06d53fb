const quote = 34;
const comma = 44;
const colon = 58;
const backslash = 92;

/** A member takes at least four characters, a value two. A text shorter than that cannot hold too many. */
const charactersOfMember = 4;
const charactersOfValue = 2;

/**
 * Whether a JSON text surely exceeds its bounds, by its signs: the engine's parser builds the whole
 * value before any code can count. Returns `false` for some texts above the bounds, and for all
 * texts that are not JSON.
 */
export function jsonExcess(
  text: string,
  {
    maxDepth,
    maxNodes,
    maxMembers,
  }: { readonly maxDepth: number; readonly maxNodes: number; readonly maxMembers: number },
): "too-deep" | "too-large" | undefined {
  if (text.length < Math.min(maxNodes * charactersOfValue, maxMembers * charactersOfMember)) return undefined;
  let [depth, containers, separators, members] = [0, 0, 0, 0];
  for (let at = 0; at < text.length; at++) {
    const sign = text.charCodeAt(at);
    if (sign === quote) at = endOfString(text, at);
    else if (sign === comma) separators++;
    else if (sign === colon) members++;
    // `[` and `{`; then `]` and `}`.
    else if ((sign | 32) === 123) {
      containers++;
      if (++depth > maxDepth) return "too-deep";
    } else if ((sign | 32) === 125) depth--;
    // Each separator stands between two values, and each container is one.
    if (separators >= maxNodes || containers > maxNodes || members > maxMembers) return "too-large";
  }
  return undefined;
}

/** The place of the closing quote, or the end of the text. */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}
