import type { StatementKind } from "./capability.ts";

/**
 * What a statement of SQL does, read from its words alone: enough to hold it against a grant before a database sees it. It knows SQLite's dialect and
 * refuses what it cannot read, what reaches beyond the database or changes how it works (`ATTACH`, `PRAGMA`, `VACUUM`, transactions, virtual tables,
 * triggers), and more than one statement. A broker for `db.read` has its engine refuse writes as well.
 */
export type Statement =
  | { readonly ok: true; readonly kinds: readonly StatementKind[] }
  | { readonly ok: false; readonly reason: string };

/** UTF-16 units of one statement: SQLite's own default is 1,000,000 bytes. */
const maxLength = 100_000;

/** The kinds of a statement, sorted, or why there are none, as the end of a sentence. */
export function classifyStatement(sql: string): Statement {
  if (sql.length > maxLength) return refused(`a statement has at most ${maxLength} characters`);
  // SQLite takes a byte order mark for a space, and for others of these it depends on what stands before.
  if (!sql.isWellFormed() || /[\u0000-\u0008\u000b\u000e-\u001f\u007f\ufeff]/.test(sql))
    return refused("a statement is well-formed text without control characters");
  const words = read(sql);
  if (typeof words === "string") return refused(words);
  if (words.at(-1) === ";") words.pop();
  if (words.length === 0) return refused("there is no statement");
  if (words.includes(";")) return refused("it is more than one statement");
  const start = words[0] === "WITH" ? behindTables(words) : 0;
  if (start === undefined) return refused("its WITH clause cannot be read");
  return kindsOf(words, start);
}

function refused(reason: string): Statement {
  return { ok: false, reason };
}

/** As SQLite cuts them: spaces, comments, quoted texts and names, parameters, words (to which every character beyond ASCII belongs), and single characters. */
const token =
  /[ \t\n\f\r]+|--[^\n]*|\/\*[^]*?(?:\*\/|$)|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|[$@#:](?:[\w$\u0080-\uffff]|::)+\(?|[\w$\u0080-\uffff]+|[^]/y;

/**
 * The words of a statement at its top level, in upper case; a quoted name or text as `""`, punctuation as it is, everything between two parentheses as
 * `()`. A text says what cannot be read.
 */
function read(sql: string): string[] | string {
  const words: string[] = [];
  let depth = 0;
  token.lastIndex = 0;
  for (let found = token.exec(sql); found; found = token.exec(sql)) {
    const [text] = found;
    const head = text[0]!;
    if (" \t\n\f\r".includes(head) || text.startsWith("--") || text.startsWith("/*")) continue;
    if ("'\"`[".includes(head) && text.length === 1) return "a quote is not closed";
    // Of `$name(…)` SQLite makes one parameter, whatever stands in it: a quote there is none.
    if ("$@#:".includes(head) && text.endsWith("(")) return "a parenthesis follows a parameter at once";
    if (head === ")" && --depth < 0) return "its parentheses do not match";
    if (depth > 0) {
      if (head === "(") depth++;
      else if (head === ";") return "it is more than one statement";
      continue;
    }
    if (head === "(") {
      depth = 1;
      words.push("()");
    } else if (head !== ")") words.push("'\"`[".includes(head) ? '""' : keyword(text));
  }
  return depth === 0 ? words : "its parentheses do not match";
}

/** Only ASCII has upper case here: in Unicode `ſ` becomes an S, in SQLite it does not. */
function keyword(word: string): string {
  return /[^ -~]/.test(word) ? word : word.toUpperCase();
}

/** Where the statement behind `WITH name (columns) AS (…), …` begins. */
function behindTables(words: readonly string[]): number | undefined {
  let at = words[1] === "RECURSIVE" ? 2 : 1;
  for (;;) {
    at++; // The name of the table, whatever it is called.
    if (words[at] === "()") at++;
    if (words[at++] !== "AS") return undefined;
    if (words[at] === "NOT") at++;
    if (words[at] === "MATERIALIZED") at++;
    if (words[at++] !== "()") return undefined;
    if (words[at] !== ",") return at;
    at++;
  }
}

const simple: ReadonlyMap<string, StatementKind> = new Map([
  ["SELECT", "select"],
  ["VALUES", "select"],
  ["DELETE", "delete"],
  ["ALTER", "alter"],
  ["DROP", "drop"],
]);

/** What can be created without reaching further: no trigger (statements of its own), no virtual table (code of its own). */
const creatable = new Set(["TABLE", "INDEX", "VIEW"]);

function kindsOf(words: readonly string[], start: number): Statement {
  const verb = words[start] ?? "";
  const kind = simple.get(verb);
  if (kind) return { ok: true, kinds: [kind] };
  switch (verb) {
    case "INSERT":
    case "UPDATE":
    case "REPLACE":
      return { ok: true, kinds: changes(words, start, verb) };
    case "CREATE": {
      const what = words.slice(start + 1).find((word) => word !== "UNIQUE" && word !== "TEMP" && word !== "TEMPORARY");
      return creatable.has(what ?? "")
        ? { ok: true, kinds: ["create"] }
        : refused("only tables, indexes and views can be created");
    }
    default:
      return refused(`a statement does not begin with ${JSON.stringify(verb.slice(0, 40))}`);
  }
}

/** Replacing a row deletes it first, and an upsert updates what is there. */
function changes(
  words: readonly string[],
  start: number,
  verb: "INSERT" | "UPDATE" | "REPLACE",
): readonly StatementKind[] {
  const replaces = verb === "REPLACE" || (words[start + 1] === "OR" && words[start + 2] === "REPLACE");
  const updates = verb === "UPDATE" || words.some((word, at) => word === "DO" && words[at + 1] === "UPDATE");
  return [
    ...(replaces ? (["delete"] as const) : []),
    ...(verb === "UPDATE" ? [] : (["insert"] as const)),
    ...(updates ? (["update"] as const) : []),
  ];
}
