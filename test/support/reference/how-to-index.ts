import { globSync, readFileSync } from "node:fs";
import { root } from "../sources.ts";
import { page, tableOf } from "./markdown.ts";

const folder = "docs/how-to";
export const howToIndexPath = `${folder}/README.md`;

/** A row for each page of the folder: its title, and the result that its first paragraph promises. */
export function howToIndex(): string {
  const files = globSync("*.md", { cwd: root + folder })
    .filter((file) => file !== "README.md")
    .toSorted();
  const rows = files.map((file) => {
    const [, title = "", intro = ""] = /^# (.+)\n\n([\s\S]*?)\n\n/.exec(
      readFileSync(`${root}${folder}/${file}`, "utf8"),
    )!;
    return [`[${title}](${file})`, resultOf(intro)];
  });
  return page("How to", "For readers with a task.", "the pages", tableOf(["Page", "After it"], rows));
}

function resultOf(intro: string): string {
  const [, result] = /After this page (.+?\.)(?= |$)/.exec(intro.replaceAll("\n", " ")) ?? [];
  if (result === undefined) throw new Error(`A page of ${folder} begins without its result: ${intro}`);
  return result.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
}
