import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { llmsFull, llmsIndex } from "../support/llms.ts";
import { root } from "../support/sources.ts";

describe("llms.txt", () => {
  it("lists every page: else run npm run write:llms", () => {
    expect(readFileSync(`${root}llms.txt`, "utf8")).toBe(llmsIndex());
  });

  it("lists each page once, and the full text has each", () => {
    const paths = [...llmsIndex().matchAll(/\]\(([^)]+)\)/g)].map(([, path = ""]) => path);
    expect(new Set(paths).size).toBe(paths.length);
    expect(paths.length).toBeGreaterThan(50);
    const full = llmsFull();
    expect(paths.filter((path) => !full.includes(`<!-- ${path} -->`))).toEqual([]);
  });
});
