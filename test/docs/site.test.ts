import { posix } from "node:path";
import { describe, expect, it } from "vitest";
import { siteAddress, sidebar, sitePages, sitePath } from "../../scripts/site/pages.mjs";
import { llmsIndex } from "../support/llms.ts";
import { parsePage, readPages } from "./markdown.ts";

const pages = sitePages();
const inSite = new Map(pages.map(({ path, text }) => [sitePath(path), parsePage(sitePath(path), text)]));

function fault(from: string, target: string): string | undefined {
  if (/^[a-z][a-z+.-]*:/i.test(target)) return undefined;
  const [file = "", anchor] = target.split("#");
  const to = file === "" ? from : posix.join(posix.dirname(from), file);
  if (/^(?:pictures\/[a-z]+\.svg|playground\.png)$/.test(to)) return undefined;
  const page = inSite.get(to);
  if (page === undefined) return `${from}: ${target} leads nowhere`;
  return anchor === undefined || page.anchors.has(anchor) ? undefined : `${from}: ${target} names no heading`;
}

describe("the pages of the site", () => {
  it("are all pages of the docs, each under a path of its own", () => {
    expect(pages.map(({ path }) => path)).toEqual(expect.arrayContaining(readPages().map(({ path }) => path)));
    expect(inSite.size).toBe(pages.length);
  });

  it("stand in the sidebar once each", () => {
    const links = sidebar(pages).flatMap(({ items }) => items.map(({ link }) => link));
    expect(links.toSorted()).toEqual(
      [...inSite.keys()].map((path) => `/${path.replace(/(index)?\.md$/, "")}`).toSorted(),
    );
  });

  it("link to pages and headings of the site only", () => {
    expect(
      [...inSite].flatMap(([path, { links }]) => links.flatMap(({ target }) => fault(path, target) ?? [])),
    ).toEqual([]);
  });

  it("keep the text of a link to a source file, and lose the link", () => {
    const { text } = pages.find(({ path }) => path === "docs/architecture.md")!;
    expect(text).toContain("A table in imports.ts says");
    expect(text).not.toContain("../test/");
  });

  it("have their addresses in the index for agents", () => {
    const addresses = [...llmsIndex(siteAddress).matchAll(/\]\(\.\/([^)]*)\)/g)].map(([, path = ""]) => path);
    const known = new Set([...inSite.keys()].map((path) => path.replace(/(?:index)?\.md$/, "")));
    expect(addresses.length).toBeGreaterThan(50);
    expect(addresses.filter((path) => !known.has(path))).toEqual([]);
  });

  it("show no marks of generated parts", () => {
    expect(pages.filter(({ text }) => text.includes("<!--")).map(({ path }) => path)).toEqual([]);
  });

  it("have the code of the docs, letter by letter", () => {
    for (const page of readPages()) {
      expect(inSite.get(sitePath(page.path))?.blocks, page.path).toEqual(page.blocks);
    }
  });
});
