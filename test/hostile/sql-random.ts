import fc from "fast-check";

/**
 * Random statements over the tables of {@link schema}: mostly such as an engine takes, with clauses that read in every place that has one, and with names in
 * every spelling.
 */
export const schema: readonly string[] = [
  'CREATE TABLE secret (id INTEGER PRIMARY KEY, x, k, "end")',
  'CREATE TABLE t (id INTEGER PRIMARY KEY, x, y AS (id + 1), u UNIQUE, "end")',
  "CREATE TABLE conflicting (id INTEGER PRIMARY KEY ON CONFLICT REPLACE, x UNIQUE ON CONFLICT REPLACE)",
  "CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT, x CHECK (x IS NULL OR x <> 'bad'))",
  "CREATE TABLE child (id INTEGER PRIMARY KEY, x, t REFERENCES t (id) ON DELETE SET NULL, s REFERENCES secret ON UPDATE CASCADE)",
  "CREATE TABLE excluded (id INTEGER PRIMARY KEY, x)",
  "CREATE TABLE noted (id INTEGER PRIMARY KEY, x)",
  "CREATE TABLE log (x)",
  "CREATE VIEW shown AS SELECT id, x, k FROM secret",
  "CREATE INDEX by_x ON t (x)",
  "CREATE TRIGGER notes AFTER INSERT ON noted BEGIN INSERT INTO log SELECT k FROM secret; END",
  "CREATE TRIGGER hides INSTEAD OF UPDATE ON shown BEGIN INSERT INTO log VALUES (1); END",
  "CREATE TRIGGER shows INSTEAD OF INSERT ON shown BEGIN INSERT INTO log VALUES (new.k); END",
];

export const triggers: readonly string[] = ["notes", "hides", "shows"];
/** Both ends. */
export const foreignKeys: readonly string[] = ["t.id", "child.t", "secret.id", "child.s"];

/** The same rows whatever `secret` is, as far as a change without reading could notice. */
export const rowsWith = (secret: string): readonly string[] => [
  `INSERT INTO secret VALUES (1, '${secret}', '${secret}', 1), (2, 0, '${secret}z', '${secret}')`,
  `INSERT INTO t (id, x, u) VALUES (1, '${secret}', 1), (2, '${secret}z', 2)`,
  "INSERT INTO conflicting VALUES (1, 'a'), (2, 'b')",
  "INSERT INTO counted VALUES (1, 'a'), (2, 'b')",
  "INSERT INTO child (id, t, s) VALUES (1, 1, 1)",
  `INSERT INTO excluded VALUES (1, '${secret}')`,
];

const tables = ["t", "t", "secret", "conflicting", "counted", "child", "excluded", "noted", "shown"];
const columns = ["id", "id", "id", "x", "x", "x", "k", "u", "y", "t", "end", "rowid"];
const pick = (...texts: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...texts);

/** In quotes or not, in any case. */
function spelled(name: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const ways = [
    (text: string) => text,
    (text: string) => text,
    (text: string) => text.toUpperCase(),
    (text: string) => `"${text}"`,
    (text: string) => `[${text}]`,
    (text: string) => `\`${text}\``,
    (text: string) => `'${text}'`,
  ];
  return fc.tuple(name, fc.constantFrom(...ways)).map(([text, way]) => way(text));
}

/** What is joined, in its order; each part is there or not. */
function joined(...parts: readonly (fc.Arbitrary<string> | string)[]): fc.Arbitrary<string> {
  return fc
    .tuple(...parts.map((part) => (typeof part === "string" ? fc.constant(part) : part)))
    .map((all) => all.join(" "));
}
/** There once in so many times. */
const maybe = (part: fc.Arbitrary<string>, times = 2): fc.Arbitrary<string> =>
  fc.oneof({ weight: times - 1, arbitrary: fc.constant("") }, { weight: 1, arbitrary: part });
const list = (part: fc.Arbitrary<string>, maxLength = 3): fc.Arbitrary<string> =>
  fc.array(part, { minLength: 1, maxLength }).map((all) => all.join(" , "));

const column = spelled(pick(...columns));
const own = pick("sqlite_sequence", "SQLITE_Sequence", "sqlite_schema", "pragma_table_list");
const table = fc.oneof(
  { weight: 9, arbitrary: spelled(pick(...tables)) },
  {
    weight: 2,
    arbitrary: joined(pick("main", '"main"', "temp", "MAIN"), ".", spelled(pick(...tables, "sqlite_schema"))),
  },
  { weight: 1, arbitrary: spelled(own) },
);

const { expression, select } = fc.letrec<Record<"expression" | "select" | "source", string>>((tie) => ({
  expression: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    {
      weight: 3,
      arbitrary: pick("1", "-1.5e3", "NULL", "'a'", "'x'", "x'00'", "?", ":a", "TRUE", "CURRENT_DATE", ".5", "0xff"),
    },
    pick("7", "8", "9", "'new'", "'bad'", "lower ( 'A' )", "end", "like", "rowid", '"x"', "k"),
    column,
    joined(pick("t", "excluded", "EXCLUDED", '"excluded"', "secret", "new", "'t'"), ".", column),
    joined(
      tie("expression"),
      pick("+", "||", "=", "->>", "IS", "AND", "LIKE", "IS NOT DISTINCT FROM"),
      tie("expression"),
    ),
    joined(
      pick("abs", "coalesce", "json", "unicode", "max", '"abs"', "changes", "count", "IN"),
      "(",
      tie("expression"),
      ")",
    ),
    joined("(", tie("select"), ")"),
    joined(maybe(pick("NOT")), "EXISTS", "(", tie("select"), ")"),
    joined(tie("expression"), "IN", fc.oneof(table, pick("json_each ( '[1]' )"), joined("(", tie("select"), ")"))),
    joined("CASE", maybe(tie("expression")), "WHEN", tie("expression"), "THEN", tie("expression"), "END"),
    joined("CAST", "(", tie("expression"), "AS", pick("TEXT", "INTEGER"), ")"),
    joined("(", tie("expression"), ")"),
  ),
  source: fc.oneof(
    table,
    joined("(", tie("select"), ")", "AS", "notes"),
    pick("pragma_table_info ( 't' )", "json_each ( '[1]' )"),
  ),
  select: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    joined("SELECT", tie("expression"), "FROM", tie("source"), maybe(joined("WHERE", tie("expression")))),
    joined("SELECT", tie("expression")),
    joined("VALUES", "(", tie("expression"), ")"),
    joined(tie("select"), pick("UNION ALL", "EXCEPT"), tie("select")),
  ),
}));

const returning = maybe(joined("RETURNING", fc.oneof(pick("*", "1"), expression)), 6);
const where = maybe(joined("WHERE", expression), 3);
const or = maybe(joined("OR", pick("REPLACE", "IGNORE", "ABORT", "FAIL", "ROLLBACK")), 4);
const alias = maybe(joined("AS", spelled(pick("a", "excluded", "Excluded"))), 5);
const assigned = fc.oneof(
  { weight: 4, arbitrary: joined(column, "=", expression) },
  {
    weight: 1,
    arbitrary: joined(
      "( id , x ) =",
      fc.oneof(joined("(", expression, ",", expression, ")"), joined("(", select, ")")),
    ),
  },
);
const conflict = joined(
  "ON CONFLICT",
  maybe(joined("(", column, ")")),
  fc.oneof(pick("DO NOTHING"), joined("DO UPDATE SET", list(assigned, 2), where)),
);
const content = fc.oneof(
  { weight: 4, arbitrary: joined("(", column, ") VALUES", list(joined("(", expression, ")"), 2)) },
  { weight: 2, arbitrary: joined("( id , x ) VALUES", list(joined("(", expression, ",", expression, ")"), 2)) },
  { weight: 2, arbitrary: joined(maybe(joined("(", column, ")")), select) },
  { weight: 1, arbitrary: pick("DEFAULT VALUES") },
);
const withTables = maybe(joined("WITH", spelled(pick("notes", "a", "secret")), "AS", "(", select, ")"), 6);

/** An expression alone in its place, of the kinds that are easily taken for constants. */
const single = fc.tuple(pick("t", "secret", "excluded"), fc.oneof(column, pick("x"))).chain(([name, read]) => {
  const value = fc.oneof(
    pick("1", "end", "END", `${name} . ${read}`, `'${name}' . ${read}`, `excluded . ${read}`, `"excluded" . ${read}`),
    pick(
      read,
      "rowid",
      `abs ( ${read} )`,
      "1 IN log",
      "1 IN 'log'",
      `1 IN ( ${name} )`,
      `( SELECT ( ${read} ) FROM ${name} )`,
    ),
    pick(
      `( ${read} )`,
      `- ${read}`,
      `1 , x = ${read}`,
      `CASE end WHEN 1 THEN 1 END`,
      `1 COLLATE nocase`,
      "like",
      "cast",
    ),
  );
  const rename = pick("", "", "AS excluded", 'AS "Excluded"', "AS a", `AS ${name}`);
  return fc.oneof(
    joined("UPDATE", fc.constant(name), rename, "SET x =", value),
    joined("INSERT INTO", fc.constant(name), "( x ) VALUES (", value, ")"),
    joined("INSERT INTO", fc.constant(name), rename, "( id ) VALUES ( 1 ) ON CONFLICT DO UPDATE SET x =", value),
    joined("INSERT INTO", fc.constant(name), "( id ) VALUES ( 1 ) RETURNING", value),
    joined("DELETE FROM", fc.constant(name), rename, "WHERE", value),
  );
});

const definition = joined(
  column,
  maybe(pick("UNIQUE", "REFERENCES secret", "AS ( 1 )", "CHECK ( x > 1 )", "DEFAULT 1")),
);
const statement = fc.oneof(
  { weight: 5, arbitrary: single },
  {
    weight: 5,
    arbitrary: joined(
      withTables,
      pick("INSERT", "INSERT", "INSERT", "REPLACE"),
      or,
      "INTO",
      table,
      alias,
      content,
      maybe(conflict, 3),
      returning,
    ),
  },
  {
    weight: 5,
    arbitrary: joined(
      withTables,
      "UPDATE",
      or,
      table,
      alias,
      "SET",
      list(assigned, 2),
      maybe(joined("FROM", table), 6),
      where,
      returning,
    ),
  },
  { weight: 3, arbitrary: joined(withTables, "DELETE FROM", table, alias, where, returning) },
  {
    weight: 2,
    arbitrary: joined(
      "CREATE",
      maybe(pick("TEMP"), 9),
      "TABLE",
      spelled(pick("made", "sqlite_made")),
      fc.oneof(joined("(", list(definition), ")"), joined("AS", select)),
    ),
  },
  { weight: 1, arbitrary: joined("CREATE VIEW", spelled(pick("made", "notes")), "AS", select) },
  {
    weight: 1,
    arbitrary: joined("CREATE", maybe(pick("UNIQUE")), "INDEX made ON", table, "(", list(expression, 2), ")", where),
  },
  {
    weight: 1,
    arbitrary: joined(
      "ALTER TABLE",
      table,
      fc.oneof(
        joined("RENAME TO", pick("made", "secret")),
        joined("ADD COLUMN", definition),
        joined("DROP COLUMN", column),
      ),
    ),
  },
  {
    weight: 2,
    arbitrary: joined(
      "DROP",
      pick("TABLE", "TABLE", "VIEW", "INDEX", "TRIGGER"),
      maybe(pick("IF EXISTS")),
      fc.oneof(table, spelled(pick("notes", "by_x"))),
    ),
  },
  { weight: 1, arbitrary: joined(withTables, select) },
);

const junk = pick(
  "",
  "(",
  ")",
  ",",
  ";",
  ".",
  "'",
  '"',
  "--",
  "/*",
  "SELECT",
  "FROM secret",
  "excluded",
  "=",
  "secret",
  "notes",
  "1",
  "AS",
  "IN",
);
const spaces = pick(" ", " ", " ", "\n", "/**/", " -- ' \n", "\t", ' /* " */ ');

/** Some of them with one word changed, and with other spaces. */
export const statements: fc.Arbitrary<string> = fc
  .tuple(
    statement,
    fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.tuple(fc.nat(), junk) }),
    fc.array(spaces, { minLength: 1, maxLength: 5 }),
  )
  .map(([text, change, between]) => {
    const words = text.split(" ").filter((word) => word !== "");
    if (change) words.splice(change[0] % (words.length + 1), change[0] % 2, change[1]);
    return words.map((word, at) => word + (at + 1 < words.length ? between[at % between.length] : "")).join("");
  });
