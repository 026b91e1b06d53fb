/** One piece of a statement, as SQLite cuts it. */
export type SqlWord =
  /** A keyword or a name without quotes, in upper case. */
  | { readonly is: "word"; readonly text: string }
  /** A name in quotes, without them. */
  | { readonly is: "name"; readonly text: string }
  /** A text in single quotes, without them: where a name has to stand, SQLite takes it for one. */
  | { readonly is: "text"; readonly text: string }
  /** A number, a BLOB or a parameter. */
  | { readonly is: "value"; readonly text: string }
  | { readonly is: "sign"; readonly text: string };

/** UTF-16 units of one statement: SQLite's own default is 1,000,000 bytes. */
const maxLength = 100_000;

/**
 * As SQLite cuts them: spaces, comments, numbers and BLOBs, quoted texts and names, parameters, words (to which every character beyond ASCII belongs), and
 * single characters.
 */
const pieces =
  /([ \t\n\f\r]+|--[^\n]*|\/\*[^]*?(?:\*\/|$))|(0[xX][\dA-Fa-f_]+|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?|[xX]'[\dA-Fa-f]*'|\?\d*|[$@#:](?:[\w$\u0080-\uffff]|::)+\(?)|('(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\])|([A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)|([-;,()+*/%.=<>!|&~])/y;

/** Follows a number at once only in what SQLite refuses. */
const belongsToWord = /[\w$\u0080-\uffff]/;

/** The words of one statement, without the semicolon at its end. A text names the unreadable part, as the end of a sentence. */
export function readWords(sql: string): readonly SqlWord[] | string {
  if (sql.length > maxLength) return `a statement has at most ${maxLength} characters`;
  // SQLite takes a byte order mark for a space, and for others of these it depends on what stands before.
  if (!sql.isWellFormed() || /[\u0000-\u0008\u000b\u000e-\u001f\u007f\ufeff]/.test(sql))
    return "a statement is well-formed text without control characters";
  const words: SqlWord[] = [];
  let depth = 0;
  for (pieces.lastIndex = 0; pieces.lastIndex < sql.length;) {
    const at = pieces.lastIndex;
    const found = pieces.exec(sql);
    if (!found) return "'\"`[".includes(sql.charAt(at)) ? "a quote has no end" : `it has ${JSON.stringify(sql[at])}`;
    const [, space, value, quoted, word, sign = ""] = found;
    if (space !== undefined) continue;
    if (isEnd(words.at(-1))) return "it is more than one statement";
    if (sign === "(") depth++;
    if (sign === ")" && --depth < 0) return "its parentheses do not match";
    if (value !== undefined) {
      const fault = valueFault(value, sql[pieces.lastIndex] ?? "");
      if (fault) return fault;
      words.push({ is: "value", text: value });
    } else if (quoted !== undefined) words.push(unquoted(quoted));
    else if (word !== undefined) words.push({ is: "word", text: keyword(word) });
    else words.push({ is: "sign", text: sign });
  }
  if (depth !== 0) return "its parentheses do not match";
  if (isEnd(words.at(-1))) words.pop();
  return words.length === 0 ? "the text has no statement" : words;
}

function isEnd(word: SqlWord | undefined): boolean {
  return word?.is === "sign" && word.text === ";";
}

function valueFault(value: string, next: string): string | undefined {
  // SQLite makes one parameter of `$name(…)` with any content: a quote in it opens no string.
  if (value.endsWith("(")) return "a parenthesis follows a parameter at once";
  return /^[\d.]/.test(value) && belongsToWord.test(next) ? "a number is not complete" : undefined;
}

function unquoted(quoted: string): SqlWord {
  const quote = quoted.charAt(0);
  const inner = quoted.slice(1, -1);
  if (quote === "[") return { is: "name", text: inner };
  return { is: quote === "'" ? "text" : "name", text: inner.replaceAll(`${quote}${quote}`, quote) };
}

/** Only ASCII has upper case here: in Unicode `ſ` becomes an S, in SQLite it does not. */
function keyword(word: string): string {
  return /[^ -~]/.test(word) ? word : word.toUpperCase();
}

/** Steps over the words of a statement. A word that does not match leaves it in place. */
export class SqlCursor {
  readonly #words: readonly SqlWord[];
  #at = 0;

  constructor(words: readonly SqlWord[]) {
    this.#words = words;
  }

  get ended(): boolean {
    return this.#at >= this.#words.length;
  }

  get next(): SqlWord | undefined {
    return this.#words[this.#at];
  }

  /** The remaining words. */
  get rest(): readonly SqlWord[] {
    return this.#words.slice(this.#at);
  }

  /** Whether these keywords and signs are next, one after another. */
  is(...texts: readonly string[]): boolean {
    return texts.every((text, index) => {
      const word = this.#words[this.#at + index];
      return word?.text === text && (word.is === "word" || word.is === "sign");
    });
  }

  skip(...texts: readonly string[]): boolean {
    if (!this.is(...texts)) return false;
    this.#at += texts.length;
    return true;
  }

  /** Steps over one word, if it is of one of these sorts. */
  take(...sorts: readonly SqlWord["is"][]): string | undefined {
    const word = this.next;
    if (!word || !sorts.includes(word.is)) return undefined;
    this.#at++;
    return word.text;
  }

  /** A name, with or without quotes. */
  name(): string | undefined {
    return this.take("word", "name", "text");
  }

  /** Steps over what stands between two parentheses, with them. */
  skipParentheses(): boolean {
    if (!this.is("(")) return false;
    let depth = 0;
    do {
      if (this.is("(")) depth++;
      if (this.is(")")) depth--;
      this.#at++;
    } while (depth > 0);
    return true;
  }
}
