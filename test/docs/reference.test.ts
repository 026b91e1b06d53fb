import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { generatedPages } from "../support/generated-pages.ts";
import { frameworkPages } from "../support/reference/framework-pages.ts";
import { indexPages } from "../support/reference/index-pages.ts";
import { referencePages } from "../support/reference/pages.ts";
import { root } from "../support/sources.ts";

const pages = await referencePages();

describe("docs/reference: else run npm run write:reference", () => {
  it("holds these pages and no other", () => {
    const files = readdirSync(`${root}docs/reference`).map((name) => `docs/reference/${name}`);
    expect(files.toSorted()).toEqual([...pages.keys()].toSorted());
  });

  it.each([...pages, ...frameworkPages(), ...indexPages()])("%s says what the sources say", (path, text) => {
    expect(readFileSync(root + path, "utf8")).toBe(text);
  });

  it.each([...generatedPages()])("%s has its tables as the lists have them", (path, text) => {
    expect(readFileSync(root + path, "utf8")).toBe(text);
  });

  it("names every verb of the command, every route and every bound", () => {
    expect(pages.get("docs/reference/command.md")).toContain("\n## policy suggest\n");
    expect(pages.get("docs/reference/http.md")).toContain("| POST | `/v1/tools/:name/calls` | `tools:call` |");
    expect(pages.get("docs/reference/calls.md")).toContain("| `timeoutMs` | 10,000 | 900,000 |");
  });
});
