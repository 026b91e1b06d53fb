/** A state of a nondeterministic automaton (Thompson's construction), and where it goes on. */
export interface Node {
  /** What holds here: a set of characters or an edge (`^`, `\b`) as the pattern writes them, or one of the two below. */
  readonly what: string;
  readonly to: readonly number[];
}

export const SPLIT = "";
export const ACCEPT = "accept";

/** A regular expression in the strict sense: what automata can match. */
export interface Regex {
  /** States of its automaton, repetitions written out. */
  readonly size: number;
  /** Whether a match can only begin at the start of the text. */
  readonly anchored: boolean;
  /** Adds its nodes, of which the last go on at `next`, and gives the first of them. */
  build(next: number): number;
}

/** What no automaton can match. */
export type Irregular = "look-around" | "a back-reference" | "an inline flag";

/** One character: a property, a pair of escaped surrogates, another escape, a class, or itself. */
const CHARACTER = /\\(?:[pPu]\{[^}]*\}|u[dD][89aAbB]..\\u[dD][c-fC-F]..|u.{4}|x..|c.|[^])|\[(?:\\[^]|[^\]\\])*\]|[^]/uy;

/**
 * Parses a pattern that the engine has already accepted with the `u` flag (ECMA-262 section 22.2.1), so that nothing
 * here has to look for mistakes. Groups are not kept: whether there is a match does not depend on them. The nodes go to
 * `nodes` when the expression is built.
 */
export function parse(source: string, nodes: Node[]): Regex | Irregular {
  let at = 0;
  let irregular: Irregular | undefined;

  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    if (found !== null) at = pattern.lastIndex;
    return found;
  };
  const add = (what: string, to: readonly number[]): number => nodes.push({ what, to }) - 1;
  const sum = (parts: readonly Regex[]): number => parts.reduce((size, part) => size + part.size, 1);

  const choice = (): Regex => {
    const parts = [sequence()];
    while (take(/\|/y) !== null) parts.push(sequence());
    const anchored = parts.every((part) => part.anchored);
    return {
      size: sum(parts),
      anchored,
      build: (next) =>
        add(
          SPLIT,
          parts.map((part) => part.build(next)),
        ),
    };
  };

  const sequence = (): Regex => {
    const parts: Regex[] = [];
    while (at < source.length && !"|)".includes(source.charAt(at))) parts.push(quantified(atom()));
    const anchored = parts[0]?.anchored === true;
    return { size: sum(parts), anchored, build: (next) => parts.reduceRight((to, part) => part.build(to), next) };
  };

  const quantified = (body: Regex): Regex => {
    const found = take(/([*+?]|\{(\d+)(,?)(\d*)\})\??/y);
    if (found === null) return body;
    const [, symbol, low, comma, high] = found;
    const min = Number(low ?? symbol === "+");
    const max = symbol === "?" ? 1 : comma === "" ? min : Number(high || Infinity);
    const build = (next: number): number => {
      let to = next;
      if (max === Infinity) {
        const ways = [next];
        to = add(SPLIT, ways);
        ways.push(body.build(to));
      } else for (let copy = min; copy < max; copy++) to = add(SPLIT, [next, body.build(to)]);
      for (let copy = 0; copy < min; copy++) to = body.build(to);
      return to;
    };
    const copies = max === Infinity ? min + 1 : Math.max(1, max);
    return { size: 1 + body.size * copies, anchored: min > 0 && body.anchored, build };
  };

  const atom = (): Regex => {
    const open = take(/\((?:\?(?:(:|<[^=!][^>]*>)|(<?[=!])|))?/y);
    if (open !== null) {
      if (open[2] !== undefined) irregular = "look-around";
      else if (open[0] === "(?") irregular = "an inline flag";
      const body = choice();
      at++;
      return body;
    }
    const [what] = take(CHARACTER) as RegExpExecArray;
    if (/^\\[1-9k]/.test(what)) irregular = "a back-reference";
    return { size: 1, anchored: what === "^", build: (next) => add(what, [next]) };
  };

  const regex = choice();
  return irregular ?? regex;
}
