/** A state of a nondeterministic automaton (Thompson's construction), and the states that follow. */
export interface Node {
  /** The label: a set of characters or an edge (`^`, `\b`) as the pattern writes them, or one of the two below. */
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
  /** Adds its nodes, of which the last lead to `next`, and gives the first of them. */
  build(nodes: Node[], next: number): number;
}

/** The constructs that no automaton can match. */
export type Irregular = "look-around" | "a back-reference" | "an inline flag";

/** One character: a property, a pair of escaped surrogates, another escape, a class, or itself. */
const CHARACTER = /\\(?:[pPu]\{[^}]*\}|u[dD][89aAbB]..\\u[dD][c-fC-F]..|u.{4}|x..|c.|[^])|\[(?:\\[^]|[^\]\\])*\]|[^]/uy;
const OPENING = /\((?:\?(?:(:|<[^=!][^>]*>)|(<?[=!])|))?/y;
const QUANTIFIER = /([*+?]|\{(\d+)(?:(,)(\d*))?\})\??/y;

/**
 * Parses a pattern that the engine has already accepted with the `u` flag (ECMA-262 section 22.2.1), so that nothing
 * here has to look for mistakes. Groups are not kept: whether there is a match does not depend on them.
 */
export function parse(source: string): Regex | Irregular {
  const reader = new Reader(source);
  const regex = choice(reader);
  return reader.irregular ?? regex;
}

class Reader {
  irregular: Irregular | undefined;
  #at = 0;
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  /** The next character; `""` at the end. */
  next(): string {
    return this.#source.charAt(this.#at);
  }

  skip(): void {
    this.#at++;
  }

  take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source);
    if (found !== null) this.#at = pattern.lastIndex;
    return found;
  }
}

const add = (nodes: Node[], what: string, to: readonly number[]): number => nodes.push({ what, to }) - 1;
const sizeOf = (parts: readonly Regex[]): number => parts.reduce((size, part) => size + part.size, 1);

function choice(reader: Reader): Regex {
  const parts = [sequence(reader)];
  while (reader.next() === "|") {
    reader.skip();
    parts.push(sequence(reader));
  }
  return {
    size: sizeOf(parts),
    anchored: parts.every((part) => part.anchored),
    build(nodes, next) {
      const ways = parts.map((part) => part.build(nodes, next));
      return add(nodes, SPLIT, ways);
    },
  };
}

function sequence(reader: Reader): Regex {
  const parts: Regex[] = [];
  while (!["", "|", ")"].includes(reader.next())) parts.push(quantified(atom(reader), reader));
  return {
    size: sizeOf(parts),
    anchored: parts[0]?.anchored === true,
    build: (nodes, next) => parts.reduceRight((to, part) => part.build(nodes, to), next),
  };
}

function quantified(body: Regex, reader: Reader): Regex {
  const found = reader.take(QUANTIFIER);
  if (found === null) return body;
  const [, symbol, low, comma, high] = found;
  const min = Number(low ?? symbol === "+");
  const max = symbol === "?" ? 1 : low !== undefined && comma === undefined ? min : Number(high || Infinity);
  const copies = max === Infinity ? min + 1 : Math.max(1, max);
  return {
    size: 1 + body.size * copies,
    anchored: min > 0 && body.anchored,
    build(nodes, next) {
      let to = next;
      if (max === Infinity) {
        const ways = [next];
        to = add(nodes, SPLIT, ways);
        ways.push(body.build(nodes, to));
      } else for (let copy = min; copy < max; copy++) to = add(nodes, SPLIT, [next, body.build(nodes, to)]);
      for (let copy = 0; copy < min; copy++) to = body.build(nodes, to);
      return to;
    },
  };
}

function atom(reader: Reader): Regex {
  const open = reader.take(OPENING);
  if (open !== null) {
    if (open[2] !== undefined) reader.irregular = "look-around";
    else if (open[0] === "(?") reader.irregular = "an inline flag";
    const body = choice(reader);
    reader.skip();
    return body;
  }
  const [what] = reader.take(CHARACTER) as RegExpExecArray;
  if (/^\\[1-9k]/.test(what)) reader.irregular = "a back-reference";
  return { size: 1, anchored: what === "^", build: (nodes, next) => add(nodes, what, [next]) };
}
