/** A regular expression in the strict sense: what automata can match. */
export type Regex = {
  /** States of its automaton, repetitions written out. */
  readonly size: number;
  /** Whether a match can only begin at the start of the text. */
  readonly anchored: boolean;
} & (
  | { readonly kind: "set"; /** One character, escape or class, as the pattern writes it. */ readonly source: string }
  | { readonly kind: "sequence" | "choice"; readonly parts: readonly Regex[] }
  | { readonly kind: "repeat"; readonly body: Regex; readonly min: number; readonly max: number }
  | { readonly kind: "^" | "$" | "\\b" | "\\B" }
);

/** What no automaton can match. */
export type Irregular = "look-around" | "a back-reference" | "an inline flag";

/** One character: a property, a pair of escaped surrogates, another escape, a class, or itself. */
const CHARACTER =
  /\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[dD][89aAbB]..\\u[dD][c-fC-F]..|u.{4}|x..|c.|[^])|\[(?:\\[^]|[^\]\\])*\]|[^]/uy;

/**
 * Parses a pattern that the engine has already accepted with the `u` flag (ECMA-262 section 22.2.1), so that nothing
 * here has to look for mistakes. Groups are not kept: whether there is a match does not depend on them.
 */
export function parse(source: string): Regex | Irregular {
  let at = 0;
  let irregular: Irregular | undefined;

  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    if (found !== null) at = pattern.lastIndex;
    return found;
  };

  const join = (kind: "sequence" | "choice", parts: readonly Regex[]): Regex => ({
    kind,
    parts,
    size: parts.reduce((sum, part) => sum + part.size, 1),
    anchored: kind === "choice" ? parts.every((part) => part.anchored) : parts[0]?.anchored === true,
  });

  const choice = (): Regex => {
    const options = [sequence()];
    while (take(/\|/y) !== null) options.push(sequence());
    return join("choice", options);
  };

  const sequence = (): Regex => {
    const parts: Regex[] = [];
    while (at < source.length && source[at] !== "|" && source[at] !== ")") parts.push(quantified(atom()));
    return join("sequence", parts);
  };

  const quantified = (body: Regex): Regex => {
    const found = take(/([*+?]|\{(\d+)(,?)(\d*)\})\??/y);
    if (found === null) return body;
    const [, symbol = "", low, comma, high] = found;
    const min = low === undefined ? Number(symbol === "+") : Number(low);
    const max =
      low === undefined ? (symbol === "?" ? 1 : Infinity) : comma === "" ? min : high === "" ? Infinity : Number(high);
    const copies = Math.max(1, max === Infinity ? min + 1 : max);
    return { kind: "repeat", body, min, max, size: 1 + body.size * copies, anchored: min > 0 && body.anchored };
  };

  const atom = (): Regex => {
    const edge = take(/\^|\$|\\b|\\B/y);
    if (edge !== null) return { kind: edge[0] as "^", size: 1, anchored: edge[0] === "^" };
    const open = take(/\((?:\?(?:(:|<[^=!][^>]*>)|(<?[=!])|))?/y);
    if (open !== null) {
      if (open[2] !== undefined) irregular = "look-around";
      else if (open[0] === "(?") irregular = "an inline flag";
      const body = choice();
      at++;
      return body;
    }
    const [text] = take(CHARACTER) as RegExpExecArray;
    if (/^\\[1-9k]/.test(text)) irregular = "a back-reference";
    return { kind: "set", source: text, size: 1, anchored: false };
  };

  const regex = choice();
  return irregular ?? regex;
}
