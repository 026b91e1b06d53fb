/**
 * Characters of white space and comments between two words, and of one name. Longer text counts as
 * an import.
 */
const GAP_LENGTH = 200;
const NAME_LENGTH = 1_000;
/**
 * Characters read behind all words of one module, and the further cost of each look. Text that
 * needs more counts as an import.
 */
const READ_LENGTH = 500_000;
const LOOK_LENGTH = 20;

const SLASH = 47;
const quotes: ReadonlySet<string> = new Set([`"`, "'"]);

/**
 * Where a module's text has what can be an import, a dynamic one, `import.meta` or an export from
 * elsewhere; `undefined` where it surely has none. Text can be written so that a reader takes code
 * for a string, and only the engine knows better. So an apparent import inside of a string or a
 * comment counts, and so does any unknown text behind one of the two words.
 *
 * @example
 * importAt(`await import("node:fs")`); // 6
 */
export function importAt(code: string): number | undefined {
  const budget = { left: READ_LENGTH };
  for (const { 0: word, index } of code.matchAll(/import|export/g)) {
    if (isInName(code, index - 1) || isInName(code, index + word.length)) continue;
    // A property of that name. Three points are a spread.
    if (code[index - 1] === "." && code[index - 2] !== ".") continue;
    const words = new Words(code, index + word.length, budget);
    const found = word === "import" ? isImport(words) : isExportFrom(words);
    if (found || words.unread) return index;
  }
  return undefined;
}

/** Behind `import` (ECMA-262, 13.3.10, 13.3.12 and 16.2.2; the proposals for `import defer` and `import source`). */
function isImport(words: Words): boolean {
  const first = words.next();
  if (first === "(" || first === "{" || first === "*" || quotes.has(first)) return true;
  if (first === ".") {
    const member = words.next();
    return member === "meta" || member === "defer" || member === "source" || words.next() === "(";
  }
  if (!isName(first)) return false;
  const second = words.next();
  if (second === "*") return true;
  const third = words.next();
  if (second === ",") return third === "{" || third === "*";
  if (second === "from" && quotes.has(third)) return true;
  return isName(second) && third === "from" && quotes.has(words.next());
}

/** Behind `export` (ECMA-262, 16.2.3). */
function isExportFrom(words: Words): boolean {
  let word = words.next();
  if (word === "*") return true;
  if (word !== "{") return false;
  do {
    word = words.next();
    if (quotes.has(word)) word = words.skipText(word);
    // A list of names holds no list.
    if (word === "" || word === "{") return false;
  } while (word !== "}");
  return words.next() === "from" && quotes.has(words.next());
}

function isName(word: string): boolean {
  return isInName(word, 0);
}

/** Of ASCII: letters, digits, `$`, `_`, and the backslash with which an escape begins. */
const asciiNames = new Uint8Array(128);
for (let unit = 0; unit < 128; unit++) asciiNames[unit] = /[\w$\\]/.test(String.fromCharCode(unit)) ? 1 : 0;

/** Whether a unit surely is part of a name, or of no code. By code units: no white space and no sign of the language is outside of the first plane. */
function isInName(code: string, at: number): boolean {
  const unit = code.charCodeAt(at);
  if (unit < 128) return asciiNames[unit] === 1;
  return unit >= 128 && (isSurrogate(unit) || /[\p{ID_Continue}\p{Join_Control}]/u.test(String.fromCharCode(unit)));
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

function isSpace(unit: number): boolean {
  return unit === 32 || (unit >= 9 && unit <= 13) || (unit >= 128 && /\s/.test(String.fromCharCode(unit)));
}

/**
 * Signs, and no part of a name in any engine. Other characters can be white space or letters in
 * engines of another age: U+180E was one.
 */
function isSign(unit: number): boolean {
  if (unit < 128) return unit >= 32 && unit < 127;
  return /[\p{Punctuation}\p{Symbol}\p{Number}]/u.test(String.fromCharCode(unit));
}

/** Reads word by word: a name, or one sign. */
class Words {
  readonly #code: string;
  readonly #budget: { left: number };
  #at: number;
  /** Whether it met what it does not read: an escape in a name, more than its budget, a comment or a text without an end in sight. */
  unread = false;

  constructor(code: string, at: number, budget: { left: number }) {
    this.#code = code;
    this.#at = at;
    this.#budget = budget;
  }

  /** The empty text at the end, and from what it does not read on. */
  next(): string {
    if (this.unread) return "";
    const before = this.#at;
    if (!this.#skipGap()) return this.#giveUp();
    const start = this.#at;
    if (start >= this.#code.length) return "";
    while (this.#isLetter() && this.#at - start <= NAME_LENGTH) this.#at += 1;
    if (this.#isEscape() || this.#at - start > NAME_LENGTH) return this.#giveUp();
    if (this.#at === start) {
      if (!isSign(this.#code.charCodeAt(start))) return this.#giveUp();
      this.#at += 1;
    }
    this.#budget.left -= this.#at - before + LOOK_LENGTH;
    return this.#budget.left < 0 ? this.#giveUp() : this.#code.slice(start, this.#at);
  }

  /** To the end of a text that has begun. Returns what comes in its place. */
  skipText(quote: string): string {
    const end = this.#at + NAME_LENGTH;
    for (; this.#at < end; this.#at += 1) {
      const unit = this.#code[this.#at];
      if (unit === "\\") this.#at += 1;
      else if (unit === quote) {
        this.#at += 1;
        return ",";
      }
    }
    return this.#giveUp();
  }

  #giveUp(): "" {
    this.unread = true;
    return "";
  }

  #isLetter(): boolean {
    return this.#code[this.#at] !== "\\" && isInName(this.#code, this.#at);
  }

  /** A backslash before anything else is of no code. */
  #isEscape(): boolean {
    return this.#code[this.#at] === "\\" && this.#code[this.#at + 1] === "u";
  }

  /** @returns whether its end is in sight */
  #skipGap(): boolean {
    const end = this.#at + GAP_LENGTH;
    while (this.#at < end) {
      const unit = this.#code.charCodeAt(this.#at);
      if (isSpace(unit)) this.#at += 1;
      else if (unit !== SLASH) return true;
      else {
        const rest = this.#code.slice(this.#at, end + 2);
        const comment = /^\/\*[^]*?\*\/|^\/\/.*[\n\r\u2028\u2029]/.exec(rest)?.[0];
        // It is a sign of the language, or a comment that has no end in sight.
        if (comment === undefined) return !/^\/[*/]/.test(rest);
        this.#at += comment.length;
      }
    }
    return this.#at >= this.#code.length;
  }
}
