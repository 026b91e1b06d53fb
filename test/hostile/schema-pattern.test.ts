import { describe, expect, it } from "vitest";
import { compileSchema, DEFAULT_LIMITS } from "@keyhole/kernel/schema";
import { compiled, errors, refused } from "../schema/compiled.ts";

/** As and bs in an order that does not repeat. */
function letters(count: number, seed = 1): string {
  let random = seed + 1;
  return Array.from({ length: count }, () =>
    ((random = (random * 48_271) % 2_147_483_647) & 64) === 0 ? "a" : "b",
  ).join("");
}

describe("patterns cannot hang", () => {
  const text = `${"a".repeat(100_000)}!`;

  it.each([
    "^(a+)+$",
    "^(a|a)*$",
    "^(a|aa)+$",
    "(.*a){20}$",
    "^(?:a*)*b",
    "a*a*a*a*b",
    "^(?:a?){50}a{50}$",
    "\\d*\\w*\\s*x$",
    "(?:[a-z]+\\.?)+@",
  ])("%s on 100,000 characters", (pattern) => {
    // A backtracking matcher would not come back.
    expect(compiled({ pattern }).check(text)).toBe(false);
  });

  it("in names, formats and property patterns either", () => {
    expect(
      compiled({ patternProperties: { "^(a+)+$": false }, propertyNames: { pattern: "^(a+)+!$" } }).check({
        [text]: 1,
      }),
    ).toBe(true);
    for (const format of [
      "uri",
      "iri",
      "uri-template",
      "email",
      "idn-email",
      "hostname",
      "idn-hostname",
      "duration",
      "date-time",
      "json-pointer",
      "ipv6",
      "uuid",
      "regex",
    ]) {
      for (const hostile of [
        text,
        `http://${text}`,
        `{${"a.".repeat(50_000)}`,
        "a@".repeat(50_000),
        `P${"1".repeat(100_000)}`,
        "1:".repeat(50_000),
        "(".repeat(100_000),
      ]) {
        expect(compiled({ format }).check(hostile)).toBeTypeOf("boolean");
      }
    }
  });

  it("in formats of texts that are longer than the engine's matcher can take", () => {
    for (const format of ["uri", "iri-reference", "uri-template", "json-pointer", "email"]) {
      expect(compiled({ format }).check(`a:/${"b%41~0".repeat(3_000_000)}`)).toBe(false);
    }
    const { check } = compiled({ format: "uri" });
    expect(check(`a:${"b".repeat(DEFAULT_LIMITS.formatLength - 2)}`)).toBe(true);
    expect(check(`a:${"b".repeat(DEFAULT_LIMITS.formatLength - 1)}`)).toBe(false);
    expect(compiled({ contentEncoding: "base64" }, { draft: "draft-07" }).check("QUJD".repeat(5_000_000))).toBe(true);
  });

  it("needs a bounded number of states", () => {
    const states = (count: number) => ({ pattern: `^${"a".repeat(count)}` });
    const limits = { patternStates: 12 };
    expect(compileSchema(states(9), { limits }).ok).toBe(true);
    expect(refused(states(10), { limits })).toMatchObject({ code: "PATTERN_TOO_LARGE" });
    expect(refused({ pattern: "(?:a{1000}){1000}" })).toMatchObject({ code: "PATTERN_TOO_LARGE" });
    expect(refused({ pattern: "((((((((((a{9}){9}){9}){9}){9}){9}){9}){9}){9}){9})" })).toMatchObject({
      code: "PATTERN_TOO_LARGE",
    });
    expect(refused({ pattern: "a{0,99999999999999999999}" })).toMatchObject({ code: "PATTERN_TOO_LARGE" });
    expect(compileSchema({ pattern: "a".repeat(2_000) }).ok).toBe(true);
    expect(refused({ pattern: "a".repeat(2_001) })).toMatchObject({ code: "PATTERN_TOO_LARGE" });
    expect(compileSchema({ pattern: `${"(".repeat(900)}a${")".repeat(900)}` }).ok).toBe(true);
  });

  it("needs a bounded number of states for all patterns of a schema", () => {
    const many = (count: number, source: (at: number) => string): object => ({
      patternProperties: Object.fromEntries(Array.from({ length: count }, (_, at) => [source(at), {}])),
    });
    const limits = { totalPatternStates: 24 };
    expect(
      compileSchema(
        many(2, (at) => `^aaaaaaaa${at}`),
        { limits },
      ).ok,
    ).toBe(true);
    expect(
      refused(
        many(3, (at) => `^aaaaaaaa${at}`),
        { limits },
      ),
    ).toMatchObject({
      code: "PATTERN_TOO_LARGE",
      message: "The schema has more than 24 states in all its patterns together, repetitions written out.",
    });
    expect(refused(many(1_000, (at) => `^a{4900}${at}$`))).toMatchObject({ code: "PATTERN_TOO_LARGE" });
    expect(refused(many(500, (at) => `^[ab]*a[ab]{100}${at}?$`))).toMatchObject({ code: "PATTERN_TOO_LARGE" });
  });

  it("spends steps on the states that hundreds of patterns make for hundreds of names", () => {
    const patternProperties = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`.*a.{15}${at}$`, {}]));
    const value = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`${letters(100, at)}${at}`, 1]));
    expect(errors({ patternProperties }, value)).toMatchObject([{ keyword: "limit" }]);
  });

  it("spends steps on states that do not fit its memory", () => {
    const { check } = compiled({ pattern: "[ab]*a[ab]{200}c" }, { limits: { steps: 100_000 } });
    expect(check(letters(20_000))).toBe(false);
    expect(check(`a${"b".repeat(200)}c`)).toBe(true);
  });

  it.each([
    ["(?=a)b", "look-around"],
    ["(?<!a)b", "look-around"],
    ["(a)\\1", "back-reference"],
    ["(?<n>a)\\k<n>", "back-reference"],
    ["(?i:a)", "inline flag"],
  ])("%s is refused unless the schema is trusted", (pattern, why) => {
    expect(refused({ pattern })).toMatchObject({ code: "PATTERN_UNSAFE", schemaPath: "/pattern" });
    expect(refused({ pattern }).message).toContain(why);
    expect(refused({ patternProperties: { [pattern]: true } })).toMatchObject({ code: "PATTERN_UNSAFE" });
    expect(compileSchema({ pattern }, { trusted: true }).ok).toBe(true);
  });

  it.each(["(", "[b-a]", "a{2,1}", "\\-", "\\p{Nope}", "(?<a>.)(?<a>.)", "*"])("%s is malformed", (pattern) => {
    expect(refused({ pattern })).toMatchObject({ code: "PATTERN_INVALID", schemaPath: "/pattern" });
  });
});
