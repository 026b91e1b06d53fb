import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkPath, pathMatcher } from "../../packages/kernel/src/capability/matching/paths.ts";

// A path without a separator, a step up or a dot at an end can have them in the reading of another file system: each has a character that folds to one.

const denies = pathMatcher(["secret/**"], "deny");

describe("a deny of a folder meets", () => {
  it.each([
    "secret／x",
    "secret＼x",
    "secret¥x",
    "secret₩x",
    "secret∖x",
    "secret∕x",
    "secret．/x",
    "secret․/x",
    "a/‥/secret/x",
    "a/．．/secret/x",
    "secret／／x",
    "secret\u3000/x",
  ])("%j", (path) => {
    expect(denies(path)).toBe(true);
  });
});

it.each(["notes…", "a…/b", "a/．／b", "a\u3000", "a／", "．a", "a．/**", "*…", "notes\u00a0/x"])(
  "a deny of %j meets the path of this very name",
  (glob) => {
    expect(pathMatcher([glob], "deny")(glob.replaceAll("*", "x"))).toBe(true);
  },
);

it("a deny meets each path that it is spelled as", () => {
  const letter = fc.constantFrom("a", "．", "․", "…", "‥", "／", "＼", "\u3000", "\u00a0", "ß", "İ", "/", "¼", "﷽");
  fc.assert(
    fc.property(fc.string({ unit: letter, minLength: 1, maxLength: 6 }), (path) => {
      if (checkPath(path) === undefined) expect(pathMatcher([path], "deny")(path)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

it.each(["notes/a", "secrets/x", "a／b", "notes/a…", "a.b/c", "not/secret/x"])(
  "a deny of a folder does not meet %j",
  (path) => {
    expect(denies(path)).toBe(false);
  },
);

it("a grant takes each path as it is written", () => {
  expect(pathMatcher(["notes/**"], "grant")("notes＼a")).toBe(false);
});

it("a deny meets each spelling of a separator, a dot and a space that a file system drops", () => {
  const slash = fc.constantFrom("/", "／", "＼", "∕", "⁄", "∖", "¥");
  const end = fc.constantFrom("", "．", "․", "\u3000", "．․");
  fc.assert(
    fc.property(fc.constantFrom("secret", "SECRET", "ｓecret"), end, slash, (name, dots, separator) => {
      const path = `${name}${dots}${separator}x`;
      if (checkPath(path) === undefined) expect(denies(path)).toBe(true);
    }),
  );
});
