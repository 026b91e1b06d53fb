import { type CharSet, complement, DIGIT, LINE_END, SPACE, WORD } from "./charset.ts";

/** A regular expression in the strict sense: what automata can match. */
export type Regex =
  | { readonly kind: "set"; readonly set: CharSet }
  | { readonly kind: "sequence" | "choice"; readonly parts: readonly Regex[] }
  | { readonly kind: "repeat"; readonly body: Regex; readonly min: number; readonly max: number }
  | { readonly kind: "start" | "end" | "boundary" | "inside" };

/** Why an automaton cannot match a pattern. */
export type Irregular = "a look-around" | "a back-reference" | "an inline flag";

const CONTROL: ReadonlyMap<string, number> = new Map([["t", 9], ["n", 10], ["v", 11], ["f", 12], ["r", 13], ["0", 0]]);
const CLASS: ReadonlyMap<string, readonly number[]> = new Map([
  ["d", DIGIT], ["D", complement(DIGIT)], ["w", WORD], ["W", complement(WORD)], ["s", SPACE], ["S", complement(SPACE)],
]);

const single = (codePoint: number): CharSet => ({ ranges: [codePoint, codePoint], properties: [], negated: false });

/**
 * Parses a pattern that the engine has already accepted with the `u` flag (ECMA-262 section 22.2.1), so that nothing
 * here has to look for mistakes. Groups are not kept: whether there is a match does not depend on them.
 */
export function parse(source: string): Regex | Irregular {
  const parser = new Parser(source);
  const regex = parser.choice();
  return parser.irregular ?? regex;
}

class Parser {
  readonly #source: string;
  #at = 0;
  irregular: Irregular | undefined;

  constructor(source: string) {
    this.#source = source;
  }

  #eat(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source);
    if (found !== null) this.#at = pattern.lastIndex;
    return found;
  }

  choice(): Regex {
    const options = [this.#sequence()];
    while (this.#eat("|")) options.push(this.#sequence());
    return options.length === 1 ? (options[0] as Regex) : { kind: "choice", parts: options };
  }

  #sequence(): Regex {
    const parts: Regex[] = [];
    for (;;) {
      const next = this.#source[this.#at];
      if (next === undefined || next === "|" || next === ")" || this.irregular !== undefined) break;
      parts.push(this.#quantified(this.#atom()));
    }
    return parts.length === 1 ? (parts[0] as Regex) : { kind: "sequence", parts };
  }

  #quantified(body: Regex): Regex {
    const found = this.#match(/(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/y);
    if (found === null) return body;
    const [, symbol, low = "", comma, high] = found;
    if (symbol !== undefined) return { kind: "repeat", body, min: symbol === "+" ? 1 : 0, max: symbol === "?" ? 1 : Infinity };
    const min = Number(low);
    return { kind: "repeat", body, min, max: comma === "" ? min : high === "" ? Infinity : Number(high) };
  }

  #atom(): Regex {
    if (this.#eat("^")) return { kind: "start" };
    if (this.#eat("$")) return { kind: "end" };
    if (this.#eat("\\b")) return { kind: "boundary" };
    if (this.#eat("\\B")) return { kind: "inside" };
    if (this.#eat("(")) return this.#group();
    if (this.#eat("[")) return { kind: "set", set: this.#class() };
    if (this.#eat(".")) return { kind: "set", set: { ranges: LINE_END, properties: [], negated: true } };
    return { kind: "set", set: this.#character(false) };
  }

  #group(): Regex {
    if (this.#match(/\?<?[=!]/y) !== null) this.irregular = "a look-around";
    else if (this.#match(/\?:|\?<[^>]*>/y) === null && this.#source[this.#at] === "?") this.irregular = "an inline flag";
    const body = this.choice();
    this.#eat(")");
    return body;
  }

  #class(): CharSet {
    const negated = this.#eat("^");
    const ranges: number[] = [];
    const properties: string[] = [];
    while (!this.#eat("]")) {
      const low = this.#character(true);
      properties.push(...low.properties);
      const [first, last] = low.ranges;
      const isSingle = low.ranges.length === 2 && first === last;
      if (isSingle && this.#source[this.#at] === "-" && this.#source[this.#at + 1] !== "]") {
        this.#at++;
        ranges.push(first as number, this.#character(true).ranges[1] as number);
      } else ranges.push(...low.ranges);
    }
    return { ranges, properties, negated };
  }

  /** One code point, or an escape for a set of them. */
  #character(inClass: boolean): CharSet {
    if (!this.#eat("\\")) {
      const codePoint = this.#source.codePointAt(this.#at) as number;
      this.#at += codePoint > 0xffff ? 2 : 1;
      return single(codePoint);
    }
    const property = this.#match(/[pP]\{[^}]*\}/y);
    if (property !== null) return { ranges: [], properties: [`\\${property[0]}`], negated: false };
    const hex = this.#match(/x([\da-fA-F]{2})|u\{([\da-fA-F]+)\}|u([dD][89abAB][\da-fA-F]{2})\\u([dD][c-fC-F][\da-fA-F]{2})|u([\da-fA-F]{4})/y);
    if (hex !== null) {
      const [, byte, point, high, low, unit] = hex;
      if (high === undefined) return single(parseInt((byte ?? point ?? unit) as string, 16));
      return single(((parseInt(high, 16) - 0xd800) << 10) + parseInt(low as string, 16) - 0xdc00 + 0x10000);
    }
    const letter = this.#source[this.#at++] as string;
    const ranges = CLASS.get(letter);
    if (ranges !== undefined) return { ranges, properties: [], negated: false };
    if (letter === "c") return single(this.#source.charCodeAt(this.#at++) % 32);
    if (inClass && letter === "b") return single(8);
    if (!inClass && /[1-9k]/.test(letter)) this.irregular = "a back-reference";
    return single(CONTROL.get(letter) ?? letter.charCodeAt(0));
  }
}

/** How many states the automaton of an expression has, repetitions written out. */
export function stateCount(regex: Regex): number {
  switch (regex.kind) {
    case "sequence":
    case "choice":
      return regex.parts.reduce((sum, part) => sum + stateCount(part), 1);
    case "repeat":
      return 1 + stateCount(regex.body) * Math.max(1, regex.max === Infinity ? regex.min + 1 : regex.max);
    default:
      return 1;
  }
}

/** Whether a match can only begin at the start of the text. */
export function isAnchored(regex: Regex): boolean {
  switch (regex.kind) {
    case "start":
      return true;
    case "sequence":
      return regex.parts[0] !== undefined && isAnchored(regex.parts[0]);
    case "choice":
      return regex.parts.every(isAnchored);
    case "repeat":
      return regex.min > 0 && isAnchored(regex.body);
    default:
      return false;
  }
}
