import { existsSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../support/sources.ts";
import { readPage, table } from "./markdown.ts";
import { shownBy } from "./vocabulary-tests.ts";

const { prose } = readPage("docs/vocabulary.md");
const columns = ["Elsewhere", "Keyhole", "Shown by"];
const starts = prose.flatMap((line, at) => (line.startsWith("| Elsewhere") ? [at] : []));
const rows = starts.flatMap((start) => table(prose.slice(start), ...columns));

/** Whether a file has a test or a group of tests of this title. */
function hasTitle(source: string, title: string): boolean {
  const texts = [`"${title}"`, `'${title}'`, `\`${title}\``];
  return texts.some((text) =>
    source.split(text).some((before, at, all) => at < all.length - 1 && /(?:\b(?:it|describe)|\))\(\s*$/.test(before)),
  );
}

describe("each row of the vocabulary", () => {
  it("has three columns", () => {
    expect(starts).toHaveLength(5);
    expect(rows.length).toBe(prose.filter((line) => line.startsWith("| ")).length - 2 * starts.length);
    expect(rows.filter((row) => row.length !== columns.length || row.includes(""))).toEqual([]);
  });

  it("names its test, and no test has no row", () => {
    expect(rows.map(([words = ""]) => words)).toEqual(Object.keys(shownBy));
  });

  it.each(rows.map((row) => [row[0] ?? "", row[2] ?? ""] as const))("%s: its test is there", (words, shown) => {
    const [, label = "", target = ""] = /^\[(.+)\]\(([^)]+)\)$/.exec(shown) ?? [];
    const path = posix.join("docs", target);
    expect(path).toMatch(/^test\/[\w/.-]+\.ts$/);
    expect(label).toBe(posix.basename(path));
    expect(existsSync(root + path), path).toBe(true);
    const title = shownBy[words] ?? "";
    expect(hasTitle(readFileSync(root + path, "utf8"), title), `${path} has no test "${title}"`).toBe(true);
  });
});
