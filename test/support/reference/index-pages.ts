import { globSync, readFileSync } from "node:fs";
import { root } from "../sources.ts";
import { page, tableOf } from "./markdown.ts";

/** The index pages of folders: a row for each page, with its own words. */
export function indexPages(): ReadonlyMap<string, string> {
  return new Map([
    ["docs/how-to/README.md", index("docs/how-to", "How to", "For readers with a task.", "After it", resultOf)],
    [
      "docs/concepts/README.md",
      index(
        "docs/concepts",
        "Concepts",
        "For a reader who wants the terms before the details.",
        "Definition",
        definitionOf,
      ),
    ],
  ]);
}

function index(
  folder: string,
  title: string,
  reader: string,
  column: string,
  sentence: (page: string) => string,
): string {
  const files = globSync("*.md", { cwd: root + folder })
    .filter((file) => file !== "README.md")
    .toSorted();
  const rows = files.map((file) => {
    const text = readFileSync(`${root}${folder}/${file}`, "utf8");
    const [, name = ""] = /^# (.+)/.exec(text) ?? [];
    return [`[${name}](${file})`, sentence(text).replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")];
  });
  return page(title, reader, "the pages", tableOf(["Page", column], rows));
}

/** The result that the first paragraph of a page promises. */
function resultOf(text: string): string {
  return found(/After this page (.+?\.)(?= |$)/, paragraphs(text)[1]);
}

/** The first sentence of the paragraph behind the page's reader. */
function definitionOf(text: string): string {
  return found(/^(.+?\.)(?= |$)/, paragraphs(text)[2]);
}

const paragraphs = (text: string): readonly string[] => text.split("\n\n").map((each) => each.replaceAll("\n", " "));

function found(pattern: RegExp, paragraph = ""): string {
  const [, sentence] = pattern.exec(paragraph) ?? [];
  if (sentence === undefined) throw new Error(`The paragraph has no sentence for the index: ${paragraph}`);
  return sentence;
}
