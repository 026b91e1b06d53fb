import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkGlob, checkPath, matchPath } from "../../packages/kernel/src/capability/matching/paths.ts";
import { sized } from "../support/size.ts";

describe("checkPath", () => {
  it.each([
    "a",
    "a/b",
    ".env",
    "...a",
    "a b",
    "données.txt",
    "文/件",
    "a*b",
    "con-text",
    "console.ts",
    "common",
    "emoji-👩‍💻",
    "a%2e",
    "%",
    "My%20File.pdf",
    "a".repeat(255),
    `${"a".repeat(255)}/`.repeat(3) + "b".repeat(256 - 1),
  ])("takes %s", (path) => expect(checkPath(path)).toBeUndefined());
  it.each([
    "",
    "/",
    "/a",
    "a/",
    "a//b",
    ".",
    "..",
    "a/.",
    "a/..",
    "../a",
    "a/../b",
    "./a",
    "a\\b",
    "\\\\server\\share",
    "C:/a",
    "c:a",
    "a:stream",
    "a\u0000b",
    "a\nb",
    "a\u007f",
    "a\u0085",
    "a\u2028b",
    "a\u202eb",
    "\ufeffa",
    "e\u0301",
    "\ud800",
    "a.",
    "a ",
    " a",
    "a/b./c",
    "con",
    "NUL.txt",
    "a/com1",
    "lpt¹",
    "a".repeat(256),
    "é".repeat(128),
    `${"a".repeat(254)}/`.repeat(4) + "b".repeat(5),
  ])("refuses %j", (path) => expect(checkPath(path)).toBeTypeOf("string"));

  it("leaves nothing that a file system or a URL would move elsewhere", () => {
    const plain = fc.constantFrom("a", "b/c", "~", "x.y", "é", "-", "/", "..a");
    const piece = fc.oneof(
      { weight: 4, arbitrary: plain },
      fc.constantFrom(".", "..", "\\", "%2e", ":", "\0", " "),
      fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
    );
    let passed = 0;
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 5 }), (pieces) => {
        const text = pieces.join("");
        if (checkPath(text) !== undefined || /[?#]/.test(text)) return;
        passed++;
        expect(decodeURIComponent(new URL(text.replaceAll("%", "%25"), "file:///root/").pathname)).toBe(
          `/root/${text}`,
        );
      }),
      { numRuns: sized(100, 600) },
    );
    expect(passed).toBeGreaterThan(sized(10, 60));
  });
});

describe("globs", () => {
  it.each([
    ["a", "a", true],
    ["a", "b", false],
    ["a", "a/b", false],
    ["*", "a", true],
    ["*", "a/b", false],
    ["**", "", true],
    ["**", "a/b/c", true],
    ["a/**", "a", true],
    ["a/**", "a/b/c", true],
    ["a/**", "ab", false],
    ["a/*/c", "a/b/c", true],
    ["a/*/c", "a/b/b/c", false],
    ["a/**/c", "a/c", true],
    ["a/**/c", "a/b/b/c", true],
    ["*.txt", "a.txt", true],
    ["*.txt", "a.txt.exe", false],
    ["**/*.txt", "a.txt", true],
    ["**/*.txt", "x/y/a.txt", true],
    ["a*b*c", "aXbYc", true],
    ["a*b*c", "aXc", false],
    ["", "", false],
    ["A", "a", false],
    ["**/a/**/b", "a/x/a/y/b", true],
    ["*", "", false],
    ["app/[slug]/*.tsx", "app/[slug]/page.tsx", true],
    ["app/[slug]/*.tsx", "app/s/page.tsx", false],
  ] as const)("%s over %s: %s", (glob, path, expected) => expect(matchPath(glob, path)).toBe(expected));

  it.each(["a", "**", "a/**", "*.txt", "**/x", "a*b", "%*", "app/[...slug]/**"])("checkGlob takes %s", (glob) =>
    expect(checkGlob(glob)).toBeUndefined(),
  );
  it.each(["", "/a", "a**", "**a/b", "a/../b", "a//b", "../**", "./*", "a\\*"])("checkGlob refuses %s", (glob) =>
    expect(checkGlob(glob)).toBeTypeOf("string"),
  );

  it("agrees with a regular expression", () => {
    const toRegExp = (glob: string): RegExp =>
      new RegExp(
        `^${glob
          .split("/")
          .map((part) => (part === "**" ? "(?:[^/]+/)*" : `${part.replaceAll("*", "[^/]*")}/`))
          .join("")}$`,
      );
    const segment = (units: string) => fc.string({ unit: fc.constantFrom(...units), minLength: 1, maxLength: 4 });
    const glob = fc.array(
      fc.oneof(
        fc.constant("**"),
        segment("ab*").filter((part) => !part.includes("**")),
      ),
      { minLength: 1, maxLength: 5 },
    );
    const path = fc.array(segment("ab"), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(glob, path, (patterns, segments) => {
        expect(matchPath(patterns.join("/"), segments.join("/"))).toBe(
          toRegExp(patterns.join("/")).test(`${segments.join("/")}/`),
        );
      }),
      { numRuns: sized(375, 3_000) },
    );
  });

  it("has no pattern that takes exponential time", () => {
    expect(matchPath(`${"**/a/".repeat(200)}b`, "a/".repeat(500) + "c")).toBe(false);
    expect(matchPath(`${"*a".repeat(120)}b`, "a".repeat(250))).toBe(false);
  });
});
