import { globSync, readFileSync } from "node:fs";
import { root } from "../support/sources.ts";

export interface CodeBlock {
  /** What stands behind the fence: `ts complete` is the language and a mark. */
  readonly info: string;
  readonly text: string;
  readonly line: number;
}

export interface Link {
  readonly text: string;
  readonly target: string;
  readonly line: number;
}

export interface Page {
  /** Relative to the root, with forward slashes. */
  readonly path: string;
  readonly headings: readonly { readonly level: number; readonly text: string; readonly line: number }[];
  /** What a link can point to behind `#`, as GitHub names it. */
  readonly anchors: ReadonlySet<string>;
  readonly links: readonly Link[];
  readonly blocks: readonly CodeBlock[];
  /** Line by line; lines inside of code blocks are empty. */
  readonly prose: readonly string[];
}

/** Reads the part of Markdown that the documentation uses: headings with `#`, fenced code, inline and reference links. */
export function parsePage(path: string, source: string): Page {
  const blocks: CodeBlock[] = [];
  const prose = source.split("\n").map((line, at, lines) => {
    const open = blocks.at(-1);
    const fence = /^\s*(`{3,})(.*)$/.exec(line);
    const inside = open !== undefined && at < open.line + open.text.split("\n").length + 1;
    if (inside) return "";
    if (!fence) return line;
    const end = lines.findIndex((each, index) => index > at && each.trim() === fence[1]);
    if (end === -1) throw new Error(`${path}:${at + 1}: a code block that does not end`);
    blocks.push({ info: fence[2]!.trim(), text: lines.slice(at + 1, end).join("\n"), line: at + 1 });
    return "";
  });
  const headings = prose.flatMap((line, at) => {
    const heading = /^(#{1,6}) (.+)$/.exec(line);
    return heading ? [{ level: heading[1]!.length, text: heading[2]!.trim(), line: at + 1 }] : [];
  });
  const links = prose.flatMap((line, at) => linksOf(line).map((link) => ({ ...link, line: at + 1 })));
  return { path, headings, anchors: anchorsOf(headings.map(({ text }) => text)), links, blocks, prose };
}

function linksOf(line: string): Omit<Link, "line">[] {
  // Code is no link; its length stays, so that brackets around it still match.
  const text = line.replaceAll(/`[^`]*`/g, (code) => code.replaceAll(/[[\]()]/g, " "));
  const inline = [...text.matchAll(/\[((?:[^[\]]|\[[^\]]*\])*)\]\(\s*<?([^\s)>]+)>?(?:\s+"[^"]*")?\s*\)/g)];
  const references = [...text.matchAll(/^\s*\[([^\]]+)\]:\s*<?([^\s>]+)>?/g)];
  // An image inside of a link is a link of its own.
  const images = inline.flatMap(([, label = ""]) => (label.includes("](") ? linksOf(label) : []));
  return [...[...inline, ...references].map(([, label = "", target = ""]) => ({ text: label, target })), ...images];
}

/** GitHub's name of one heading: lower case, without punctuation, with hyphens for spaces. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, "")
    .replaceAll(" ", "-");
}

/** The names of all headings of a page, numbered where they repeat. */
function anchorsOf(headings: readonly string[]): ReadonlySet<string> {
  const counts = new Map<string, number>();
  return new Set(
    headings.map((heading) => {
      const label = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
      const name = anchorOf(label);
      const count = counts.get(name) ?? 0;
      counts.set(name, count + 1);
      return count === 0 ? name : `${name}-${count}`;
    }),
  );
}

export function readPage(path: string): Page {
  return parsePage(path, readFileSync(root + path, "utf8"));
}

/** README.md and everything under docs/, sorted by path. */
export function readPages(): readonly Page[] {
  const paths = globSync("docs/**/*.md", { cwd: root }).map((path) => path.replaceAll("\\", "/"));
  return ["README.md", ...paths.toSorted()].map(readPage);
}

/** The lines of one section, from behind its heading to the next one of the same or a higher level. */
export function section({ headings, prose }: Page, title: string): readonly string[] | undefined {
  const index = headings.findIndex(({ text }) => text === title);
  const heading = headings[index];
  if (!heading) return undefined;
  const end = headings.slice(index + 1).find(({ level }) => level <= heading.level);
  return prose.slice(heading.line, end === undefined ? undefined : end.line - 1);
}

/** The cells of every table row whose table begins with these headings. */
export function table(lines: readonly string[], ...titles: readonly string[]): readonly (readonly string[])[] {
  const start = lines.findIndex((line) => cells(line).join() === titles.join());
  if (start === -1) return [];
  const rows: string[][] = [];
  for (const line of lines.slice(start + 2)) {
    if (!line.startsWith("|")) break;
    rows.push(cells(line));
  }
  return rows;
}

function cells(line: string): string[] {
  if (!line.startsWith("|")) return [];
  return line
    .slice(1, line.trimEnd().lastIndexOf("|"))
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
}
