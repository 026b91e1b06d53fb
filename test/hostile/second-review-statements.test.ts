import { classifyStatement } from "@keyhole/kernel/statements";
import { describe, expect, it } from "vitest";

/** SQLite reads `$name(…)` as one parameter, up to the next `)`: a quote in it begins no text. */
describe("a parameter with a parenthesis", () => {
  it.each([
    "WITH x AS (SELECT $a(')) DELETE FROM t -- ')) SELECT 1",
    "WITH x AS (SELECT :a(')) DELETE FROM t -- ')) SELECT 1",
    "WITH x AS (SELECT @a(')) DELETE FROM t -- ')) INSERT INTO t VALUES (1)",
    "WITH x AS (SELECT #a(')) DELETE FROM t -- ')) SELECT 1",
    "WITH x AS (SELECT $a::b(')) DELETE FROM t -- ')) SELECT 1",
    "WITH x AS (SELECT $::(')) DELETE FROM t -- ')) SELECT 1",
    "WITH x AS (SELECT a:b(')) DELETE FROM t -- ')) SELECT 1",
    "SELECT $a('); DELETE FROM t; -- ')",
  ])("%j is refused", (sql) => {
    expect(classifyStatement(sql).ok).toBe(false);
  });

  it.each(["SELECT :a, $b, @c, ?1", "SELECT a$b(1)", "SELECT (:a)", "SELECT :a IN (1)", "SELECT $a::b"])(
    "%j is read",
    (sql) => {
      expect(classifyStatement(sql)).toEqual({ ok: true, kinds: ["select"] });
    },
  );
});
