import { existsSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../support/sources.ts";
import { type Page, parsePage, readPage, readPages } from "./markdown.ts";

const pages = readPages();

/** What is wrong with a link, as the end of a sentence. */
function fault(page: Page, target: string, text: string): string | undefined {
  if (/^[a-z][a-z+.-]*:/i.test(target)) return undefined;
  const [path = "", anchor] = target.split("#");
  const to = path === "" ? page.path : posix.join(posix.dirname(page.path), decodeURIComponent(path));
  if (path.startsWith("/") || to.startsWith("../")) return "leaves the repository";
  if (to !== page.path && !existsSync(root + to)) return "leads nowhere";
  if (anchor !== undefined && !(to === page.path ? page : readPage(to)).anchors.has(anchor))
    return "names a heading that is not there";
  // A claim that a test shows something names that test.
  const name = text.replaceAll("`", "");
  if (to.startsWith("test/") && name !== posix.basename(to) && !readFileSync(root + to, "utf8").includes(name))
    return "names a test that is not there";
  return undefined;
}

function faults(page: Page): string[] {
  return page.links.flatMap(({ target, text, line }) => {
    const reason = fault(page, target, text);
    return reason === undefined ? [] : [`${page.path}:${line} [${text}](${target}) ${reason}`];
  });
}

describe("links", () => {
  it("are looked for where they are", () => {
    expect(pages.length).toBeGreaterThan(20);
    expect(pages.flatMap(({ links }) => links).length).toBeGreaterThan(100);
  });

  it("that are broken are found", () => {
    const text = [
      "# A title: `with` *signs*, twice",
      "# A title: `with` *signs*, twice",
      "[file](nowhere.md) [out](../../../etc/passwd) [absolute](/README.md) `[code](nowhere.md)`",
      "[up](#a-title-with-signs-twice) [second](#a-title-with-signs-twice-1) [third](#a-title-with-signs-twice-2)",
      "[![picture](nowhere.png)](README.md) [web](https://example.com/nowhere.md) [a test that no file has](../../test/docs/links.test.ts)",
      "```md",
      "[in code](nowhere.md)",
      "```",
      "[reference]: elsewhere.md",
    ];
    const found = faults(parsePage("docs/errors/x.md", text.join("\n"))).map((each) =>
      /\[!?([^[\]]*)\]\([^)]*\) (.*)/.exec(each)?.slice(1).join(" "),
    );
    expect(found).toEqual([
      "file leads nowhere",
      "out leaves the repository",
      "absolute leaves the repository",
      "third names a heading that is not there",
      "picture leads nowhere",
      "reference leads nowhere",
    ]);
    expect(faults(parsePage("docs/errors/x.md", text[4]!))).toHaveLength(1);
  });

  it.each(pages.map((page) => [page.path, page] as const))("in %s lead somewhere", (_, page) => {
    expect(faults(page)).toEqual([]);
  });

  it("reach every page from README.md", () => {
    const reached = new Set<string>();
    const walk = (path: string): void => {
      const page = pages.find((each) => each.path === path);
      if (page === undefined || reached.has(path)) return;
      reached.add(path);
      for (const { target } of page.links)
        walk(posix.join(posix.dirname(path), target.split("#")[0] || posix.basename(path)));
    };
    walk("README.md");
    expect(pages.map(({ path }) => path).filter((path) => !reached.has(path))).toEqual([]);
  });
});
