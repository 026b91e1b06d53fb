import { globSync, readFileSync } from "node:fs";
import { parseSync } from "vite";
import { publicNames } from "./public-functions.ts";
import { root } from "./sources.ts";

/** What a package weighs for those who read it and those who use it. */
export interface Weight {
  readonly lines: number;
  readonly files: number;
  /** Distinct public names: exports of all entry points, and the members of exported objects and namespaces. */
  readonly names: number;
}

interface Place {
  readonly start: number;
  readonly end: number;
}

/** Lines that hold code: neither blank nor all comment. The formatter sets their width. */
export function codeLines(path: string, text: string): number {
  const comments = path.endsWith(".css") ? stylesheetComments(text) : parseSync(path, text).comments;
  let rest = "";
  let from = 0;
  for (const comment of comments) {
    const { start, end } = withBraces(text, comment);
    rest += text.slice(from, start) + text.slice(start, end).replaceAll(/[^\n]/g, " ");
    from = end;
  }
  const lines = (rest + text.slice(from)).split("\n");
  return lines.filter((line) => line.trim() !== "").length;
}

const stylesheetComments = (text: string): Place[] =>
  [...text.matchAll(/\/\*[^]*?\*\//g)].map(({ 0: { length }, index }) => ({ start: index, end: index + length }));

/** A comment between elements of JSX has braces around it. */
function withBraces(text: string, { start, end }: Place): Place {
  return text[start - 1] === "{" && text[end] === "}" ? { start: start - 1, end: end + 1 } : { start, end };
}

/** Every script and stylesheet under `packages/`, templates included, by package. */
export function weights(): ReadonlyMap<string, Weight> {
  const found = globSync("packages/**/*.{ts,tsx,js,mjs,css}", { cwd: root }).map((path) => path.replaceAll("\\", "/"));
  const own = found.filter((path) => !/\/(?:node_modules|dist|build)\//.test(path));
  const names = publicNames();
  const packages = Map.groupBy(own, (path) => path.split("/")[1] ?? "");
  return new Map(
    [...packages]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, paths]) => {
        const lines = paths.reduce((sum, path) => sum + codeLines(path, readFileSync(root + path, "utf8")), 0);
        return [name, { lines, files: paths.length, names: names.get(name) ?? 0 }] as const;
      }),
  );
}
