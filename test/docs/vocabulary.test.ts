import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { root } from "../support/sources.ts";
import { vocabulary } from "../support/vocabulary.ts";

/** Whether a file has a test or a group of tests of this title. */
function hasTitle(source: string, title: string): boolean {
  const texts = [`"${title}"`, `'${title}'`, `\`${title}\``];
  return texts.some((text) =>
    source.split(text).some((before, at, all) => at < all.length - 1 && /(?:\b(?:it|describe)|\))\(\s*$/.test(before)),
  );
}

describe("each term of the vocabulary", () => {
  const terms = vocabulary.flatMap((section) => section.terms);

  it("stands there once", () => {
    expect(new Set(terms.map(({ elsewhere }) => elsewhere)).size).toBe(terms.length);
    expect(terms.length).toBeGreaterThan(50);
  });

  it.each(terms)("$elsewhere: its test is there", ({ file, test }) => {
    expect(file).toMatch(/^test\/[\w/.-]+\.ts$/);
    expect(existsSync(root + file), file).toBe(true);
    expect(hasTitle(readFileSync(root + file, "utf8"), test), `${file} has no test "${test}"`).toBe(true);
  });
});
