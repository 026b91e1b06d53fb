import type { SnapshotLimits } from "./snapshot-limits.ts";

const quote = 34;
const comma = 44;
const colon = 58;
const backslash = 92;

/** A limit of `n` accepts `n` and refuses `n + 1`. */
export interface JsonTextLimits extends Required<Omit<SnapshotLimits, "maxStringUnits">> {
  /** Members of the object at the top. Default: any number. */
  readonly maxTopMembers?: number;
}

/**
 * How a JSON text surely exceeds its limits, by its signs: the engine's parser builds the whole
 * value before any code can count. Returns `undefined` for some texts above the limits, and says nothing
 * of texts that are not JSON.
 */
export function jsonExcess(
  text: string,
  { maxDepth, maxNodes, maxMembers, maxTopMembers = Infinity }: JsonTextLimits,
): "too-deep" | "too-large" | undefined {
  let [depth, containers, separators, members, atTop] = [0, 0, 0, 0, 0];
  for (let at = 0; at < text.length; at++) {
    const sign = text.charCodeAt(at);
    if (sign === quote) at = endOfString(text, at);
    else if (sign === comma) separators++;
    else if (sign === colon) {
      members++;
      if (depth === 1) atTop++;
    }
    // `[` and `{`; then `]` and `}`.
    else if ((sign | 32) === 123) {
      containers++;
      if (++depth > maxDepth) return "too-deep";
    } else if ((sign | 32) === 125) depth--;
    // Each separator stands between two values, and each container is one.
    if (separators >= maxNodes || containers > maxNodes || members > maxMembers || atTop > maxTopMembers)
      return "too-large";
  }
  return undefined;
}

/** The place of the closing quote, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}
