/** A set of characters as a pattern writes it: `a`, `\d`, `[a-z]`, `\p{L}`. */
export class CharacterSet {
  /** The only code point in it, or -1. */
  readonly #only: number;
  /** The engine decides which characters are in a set: one character leaves nothing to backtrack. */
  readonly #test: RegExp | undefined;

  constructor(set: string) {
    const literal = LITERAL.exec(set)?.[1];
    this.#only = literal?.codePointAt(0) ?? -1;
    this.#test = literal === undefined ? regExpOf(set) : undefined;
  }

  has(codePoint: number, character: string): boolean {
    return this.#test === undefined ? this.#only === codePoint : this.#test.test(character);
  }
}

const LITERAL = /^(?:\\(?=[^a-zA-Z\d]))?([^\\[.]|(?<=\\)[\\[.])$/u;

/** Of the whole process: the sets of many patterns are the same few. */
const known = /* @__PURE__ */ new Map<string, RegExp>();
const MAX_KNOWN = 256;

function regExpOf(set: string): RegExp {
  let test = known.get(set);
  if (test === undefined) {
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(set, (test = new RegExp(`^${set}$`, "u")));
  }
  return test;
}
