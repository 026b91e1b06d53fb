import type { StatementKind } from "../families/db.ts";
import { readWords, SqlCursor, type SqlWord } from "./sql-words.ts";

export { readWords, type SqlWord } from "./sql-words.ts";

/**
 * The effect of a SQL statement, read from its words alone: enough to compare it with a grant
 * before a database sees it. The reader knows SQLite's dialect. It refuses statements that it
 * cannot read, several statements at once, and statements that reach beyond the database or change
 * how it works: `ATTACH`, `PRAGMA`, `VACUUM`, transactions, virtual and temporary tables, triggers,
 * the engine's own tables. A changing statement also has the kind `select`, unless it holds
 * constants and parameters alone and so surely reads nothing. A broker has its engine refuse what
 * the kinds do not allow as well.
 */
export type Statement =
  | {
      readonly ok: true;
      /** Sorted. */
      readonly kinds: readonly StatementKind[];
      /** The table or view whose rows it changes. */
      readonly target?: string;
    }
  | { readonly ok: false; readonly reason: string };

/** The kinds of a statement, or why there are none, as the end of a sentence. */
export function classifyStatement(sql: string): Statement {
  const found = readWords(sql);
  if (typeof found === "string") return refused(found);
  const words = new SqlCursor(found);
  const hasTables = words.skip("WITH");
  if (hasTables && !skipTables(words)) return refused("its WITH clause is unreadable");
  const head = words.next?.text ?? "";
  const verb = words.take("word") ?? "";
  const read = rowStatements.get(verb) ?? (hasTables ? undefined : schemaStatements.get(verb));
  return read?.(words, hasTables) ?? refused(`a statement does not begin with ${JSON.stringify(head.slice(0, 40))}`);
}

type Refused = Extract<Statement, { ok: false }>;

function refused(reason: string): Refused {
  return { ok: false, reason };
}

function does(kinds: readonly StatementKind[], plain: boolean, target?: string): Statement {
  const all: readonly StatementKind[] = plain ? kinds : [...kinds, "select"];
  return { ok: true, kinds: all.toSorted(), ...(target !== undefined && { target }) };
}

/** Steps over `name (columns) AS (…), …`. */
function skipTables(words: SqlCursor): boolean {
  words.skip("RECURSIVE");
  do {
    // The name of the table, also a keyword.
    if (words.name() === undefined) return false;
    words.skipParentheses();
    if (!words.skip("AS")) return false;
    words.skip("NOT");
    words.skip("MATERIALIZED");
    if (!words.skipParentheses()) return false;
  } while (words.skip(","));
  return true;
}

type Read = (words: SqlCursor, hasTables: boolean) => Statement;

const rowStatements: ReadonlyMap<string, Read> = new Map<string, Read>([
  ["SELECT", () => does(["select"], true)],
  ["VALUES", () => does(["select"], true)],
  ["INSERT", (words, hasTables) => insert(words, hasTables, words.skip("OR", "REPLACE"))],
  ["REPLACE", (words, hasTables) => insert(words, hasTables, true)],
  ["UPDATE", update],
  ["DELETE", remove],
]);

const schemaStatements: ReadonlyMap<string, Read> = new Map<string, Read>([
  ["CREATE", create],
  ["ALTER", alter],
  ["DROP", drop],
]);

/** Replacing a row deletes it first, and an upsert updates what is there. */
function insert(words: SqlCursor, hasTables: boolean, replaces: boolean): Statement {
  skipConflict(words);
  const target = words.skip("INTO") ? tableOf(words) : noTable;
  if (!target.ok) return target;
  const updates = words.rest.some((word, at, rest) => isWord(word, "DO") && isWord(rest[at + 1], "UPDATE"));
  const plain = !hasTables && target.name.toUpperCase() !== excluded && insertsConstants(words);
  return does(
    [...(replaces ? (["delete"] as const) : []), "insert", ...(updates ? (["update"] as const) : [])],
    plain,
    target.name,
  );
}

function update(words: SqlCursor, hasTables: boolean): Statement {
  const replaces = words.skip("OR", "REPLACE");
  skipConflict(words);
  const target = tableOf(words);
  if (!target.ok) return target;
  if (words.skip("AS")) words.name();
  const plain = !hasTables && words.skip("SET") && assignsConstants(words, false) && words.ended;
  return does(replaces ? ["delete", "update"] : ["update"], plain, target.name);
}

function remove(words: SqlCursor, hasTables: boolean): Statement {
  const target = words.skip("FROM") ? tableOf(words) : noTable;
  if (!target.ok) return target;
  if (words.skip("AS")) words.name();
  return does(["delete"], !hasTables && words.ended, target.name);
}

/**
 * Reads a `CREATE` that reaches no further: no trigger (has statements), no virtual table (has
 * code), nothing temporary.
 */
function create(words: SqlCursor): Statement {
  const isUnique = words.skip("UNIQUE");
  const isIndex = words.skip("INDEX");
  const isTable = !isIndex && !isUnique && words.skip("TABLE");
  if (!isIndex && !isTable && (isUnique || !words.skip("VIEW")))
    return refused("CREATE makes only tables, indexes and views, and nothing temporary");
  words.skip("IF", "NOT", "EXISTS");
  const target = tableOf(words);
  if (!target.ok) return target;
  if (!isTable) {
    // An index reads the rows that it is made of; a view is a SELECT for others to run.
    const indexed = isIndex ? (words.skip("ON") ? tableOf(words) : noTable) : target;
    return indexed.ok ? does(["create"], false) : indexed;
  }
  // `REFERENCES` asks another table on every later insert.
  const refers = words.rest.some((word) => isWord(word, "REFERENCES"));
  return does(
    ["create"],
    !refers && words.skipParentheses() && words.rest.every(({ is, text }) => is !== "name" && tableOptions.has(text)),
  );
}

const tableOptions = new Set(["WITHOUT", "ROWID", "STRICT", ","]);

/** It moves what others refer to, and looks at the rows that are there. */
function alter(words: SqlCursor): Statement {
  const target = words.skip("TABLE") ? tableOf(words) : noTable;
  return target.ok ? does(["alter"], false) : target;
}

function drop(words: SqlCursor): Statement {
  if (!words.skip("TABLE") && !words.skip("INDEX") && !words.skip("VIEW"))
    return refused("DROP removes only tables, indexes and views");
  words.skip("IF", "EXISTS");
  const target = tableOf(words);
  if (!target.ok) return target;
  return words.ended ? does(["drop"], true) : refused("something follows the name that it drops");
}

/** `OR IGNORE` and the like: they change nothing that is there. `OR REPLACE` was asked for before. */
function skipConflict(words: SqlCursor): void {
  for (const way of ["ABORT", "FAIL", "IGNORE", "ROLLBACK"]) if (words.skip("OR", way)) return;
}

type Table = { readonly ok: true; readonly name: string } | Refused;

const noTable = refused("its table is unreadable");

/** A name, at most with `main` before it. */
function tableOf(words: SqlCursor): Table {
  let name = words.name();
  if (name !== undefined && words.skip(".")) {
    if (name.toLowerCase() !== "main") return refused("a statement changes the database `main` alone");
    name = words.name();
  }
  if (name === undefined) return noTable;
  return /^sqlite_/i.test(name)
    ? refused("tables whose names begin with `sqlite_` are the engine's own")
    : { ok: true, name };
}

/** The row that an upsert did not insert. */
const excluded = "EXCLUDED";

/** Whether what follows the table gives it rows of constants. The names of conflicting columns, a condition and `RETURNING` read. */
function insertsConstants(words: SqlCursor): boolean {
  // By this name the row that is there could be asked for.
  if (words.skip("AS") && words.name()?.toUpperCase() === excluded) return false;
  if (words.is("(") && !skipNames(words)) return false;
  if (!words.skip("DEFAULT", "VALUES")) {
    if (!words.skip("VALUES")) return false;
    do if (!skipRow(words)) return false;
    while (words.skip(","));
  }
  while (words.skip("ON", "CONFLICT", "DO"))
    if (!words.skip("NOTHING") && !(words.skip("UPDATE", "SET") && assignsConstants(words, true))) return false;
  return words.ended;
}

function assignsConstants(words: SqlCursor, isUpsert: boolean): boolean {
  do {
    if (!skipNames(words) && words.name() === undefined) return false;
    if (!words.skip("=")) return false;
    skipConstants(words, isUpsert);
  } while (words.skip(","));
  return true;
}

function skipRow(words: SqlCursor): boolean {
  if (!words.skip("(")) return false;
  do skipConstants(words, false);
  while (words.skip(","));
  return words.skip(")");
}

/** `(name, …)` */
function skipNames(words: SqlCursor): boolean {
  if (!words.skip("(")) return false;
  do if (words.name() === undefined) return false;
  while (words.skip(","));
  return words.skip(")");
}

/**
 * Words that can be nothing but constants and what joins them. Of others, such as `END` and `LIKE`, SQLite makes the name of a column where a keyword does
 * not fit.
 */
const constants = new Set(
  "NULL TRUE FALSE CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP AND OR NOT IS + - * / % = < > ! | & ~".split(" "),
);

/** Functions that know their arguments alone. */
const functions = new Set(
  (
    "ABS CHAR COALESCE CONCAT DATE DATETIME FORMAT HEX IFNULL INSTR JSON JSONB JSON_ARRAY JSON_INSERT JSON_OBJECT JSON_REMOVE JSON_REPLACE JSON_SET " +
    "JULIANDAY LENGTH LOWER LTRIM MAX MIN NULLIF PRINTF RANDOM RANDOMBLOB REPLACE ROUND RTRIM STRFTIME SUBSTR SUBSTRING TIME TRIM TYPEOF UNHEX UNICODE " +
    "UNIXEPOCH UPPER ZEROBLOB"
  ).split(" "),
);

/** Steps over one expression, up to the first word that could read something, or to the comma or parenthesis that ends it. */
function skipConstants(words: SqlCursor, isUpsert: boolean): void {
  for (let depth = 0; ;) {
    const { next } = words;
    if (next?.is === "text" || next?.is === "value") words.take("text", "value");
    else if (next?.is === "word" && functions.has(next.text)) {
      if (!words.skip(next.text, "(")) return;
      depth++;
    } else if (isUpsert && words.skip(excluded, ".")) {
      if (words.name() === undefined) return;
    } else if (words.skip("(")) depth++;
    else if (depth > 0 && words.skip(")")) depth--;
    else if (next === undefined || !(constants.has(next.text) || (depth > 0 && next.text === ","))) return;
    else if (!words.skip(next.text)) return;
  }
}

function isWord(word: SqlWord | undefined, text: string): boolean {
  return word?.is === "word" && word.text === text;
}
