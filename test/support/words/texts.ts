import { globSync, readFileSync } from "node:fs";
import { parsePage, readPages } from "../../docs/markdown.ts";
import { generatedPart } from "../generated-parts.ts";
import { readMessages } from "../messages.ts";
import { frameworks } from "../reference/framework-pages.ts";
import { root } from "../sources.ts";
import { type Measure, measure } from "./measure.ts";

/** A page, the messages of all packages, or the docstrings or comments of one package. */
export interface MeasuredText extends Measure {
  readonly name: string;
  readonly kind: "page" | "generated" | "messages" | "docstrings" | "comments";
  /** Sentences and fragments, as they stand. */
  readonly parts: readonly string[];
}

/** Pages that a program writes: they do not count as words that people write. */
const generatedPages =
  /^docs\/(?:errors\/messages|internals\/contracts|hostile-battery|benchmarks|(?:how-to|concepts)\/README|reference\/[\w-]+)\.md$/;
const frameworkPages = new Set(Object.keys(frameworks).map((name) => `docs/how-to/${name}.md`));

export function measuredTexts(): readonly MeasuredText[] {
  const packages = ["kernel", "worker-host", "agents", "bus", "keyhole", "mcp", "edge", "playground"];
  return [...measuredPages(), messages(), ...packages.flatMap(sourceTexts)];
}

function measuredPages(): readonly MeasuredText[] {
  return readPages().map(({ path }) => {
    const all = readFileSync(root + path, "utf8").replaceAll(generatedPart, "");
    const { blocks, fragments } = partsOf(parsePage(path, all).prose);
    const kind = generatedPages.test(path) || frameworkPages.has(path) ? "generated" : "page";
    return { name: path, kind, parts: [...blocks, ...fragments], ...measure(all, blocks, fragments) };
  });
}

function messages(): MeasuredText {
  const parts = readMessages().map(({ text }) => text);
  return { name: "messages and hints", kind: "messages", parts, ...measure(parts.join("\n"), parts) };
}

function sourceTexts(name: string): readonly MeasuredText[] {
  const paths = globSync(`packages/${name}/src/**/*.{ts,tsx}`, { cwd: root }).toSorted();
  const sources = paths.map((path) => readFileSync(root + path, "utf8"));
  const textOf = (kind: "docstrings" | "comments", parts: readonly string[]): MeasuredText => {
    return { name: `${kind} of ${name}`, kind, parts, ...measure(parts.join("\n"), parts) };
  };
  return [textOf("docstrings", sources.flatMap(docstringsIn)), textOf("comments", sources.flatMap(commentsIn))];
}

/** The description, and the text of each tag. */
export function docstringsIn(source: string): readonly string[] {
  return [...source.matchAll(/\/\*\*(?!\*)([\s\S]*?)\*\//g)].flatMap(([, text = ""]) =>
    text
      .replaceAll(/^\s*\* ?/gm, "")
      .split(/\n(?=@|- )|\n\n/)
      .map((part) =>
        part
          .replace(/^\s*@(?:param|typeParam|template)\s+\S+/, "")
          .replaceAll(/@\w+|\{@link ([^}]*)\}/g, "$1")
          .trim(),
      )
      .filter((part) => part !== ""),
  );
}

/** Lines of comments, joined where one follows the other. Instructions for tools are none. */
export function commentsIn(source: string): readonly string[] {
  return [...source.matchAll(/^[ \t]*\/\/ (?!prettier-|oxlint-|eslint-)(.*(?:\n[ \t]*\/\/ .*)*)$/gm)].map(
    ([, text = ""]) => text.replaceAll(/\n[ \t]*\/\/ /g, " "),
  );
}

/** Paragraphs and items of lists are blocks; the cells of tables and headings are fragments. */
function partsOf(prose: readonly string[]): {
  readonly blocks: readonly string[];
  readonly fragments: readonly string[];
} {
  const blocks: string[] = [];
  const fragments: string[] = [];
  let open = false;
  for (const line of prose) {
    const text = line.trim();
    const isRow = text.startsWith("|");
    if (isRow) fragments.push(...text.split(/(?<!\\)\|/).map((cell) => cell.trim()));
    else if (text.startsWith("#")) fragments.push(text.replace(/^#+ /, ""));
    else if (text === "" || text.startsWith("<!--")) open = false;
    else if (open && !/^(?:[-*]|\d+\.)\s/.test(text)) blocks.push(`${blocks.pop()} ${text}`);
    else {
      blocks.push(text.replace(/^(?:[-*>]|\d+\.)\s+/, ""));
      open = true;
    }
    if (isRow || text.startsWith("#")) open = false;
  }
  return { blocks, fragments: fragments.filter((each) => each !== "" && !/^:?-+:?$/.test(each)) };
}
