import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { root } from "../support/sources.ts";
import { type Page, parsePage, readPages } from "./markdown.ts";

/** Lines that lost their neighbour in an edit. */
function faults(page: Page): readonly string[] {
  const { path, blocks, prose } = page;
  const isRow = (line: string | undefined): boolean => line?.startsWith("|") === true;
  return [
    // A fence that closes nothing opens a block, and such a block has no language.
    ...blocks.flatMap(({ info, line }) => (info === "" ? [`${path}:${line} code without a language`] : [])),
    ...prose.flatMap((line, at) => {
      if (/^\|(?: :?-+:? \|)+$/.test(line) && !isRow(prose[at - 1]))
        return [`${path}:${at + 1} a table without a head`];
      if (isRow(line) && !isRow(prose[at - 1]) && !/^\|(?: :?-+:? \|)+$/.test(prose[at + 1] ?? ""))
        return [`${path}:${at + 1} a row without a table`];
      return [];
    }),
  ];
}

describe("the form of a page", () => {
  it.each(readPages().map((page) => [page.path, page] as const))("%s has whole tables and code blocks", (_, page) => {
    expect(faults(page)).toEqual([]);
  });

  it("that lost a fence, a head or a table is found", () => {
    expect(faults(parsePage("x.md", "EDGE=1\n```\n\n```sh\nb\n```"))).toEqual(["x.md:2 code without a language"]);
    expect(faults(parsePage("x.md", "| --- |\n| a |\n\n| b |"))).toEqual([
      "x.md:1 a table without a head",
      "x.md:4 a row without a table",
    ]);
  });

  it("leaves no double blank line in prose", () => {
    for (const { path, prose } of readPages()) {
      const lines = readFileSync(root + path, "utf8").split("\n");
      const doubled = prose.findIndex(
        (line, at) => line === "" && lines[at] === "" && lines[at + 1] === "" && at + 2 < lines.length,
      );
      expect(doubled === -1 ? "" : `${path}:${doubled + 1}`).toBe("");
    }
  });
});
