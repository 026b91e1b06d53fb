// Turns the Markdown of the repository into the pages of a site. Links between pages stay links; a link to a source file
// becomes its text, because a reader of the site has no sources at hand.
import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { parsePage, readPages } from "../../test/docs/markdown.ts";
import { root } from "../../test/support/sources.ts";

/** @typedef {{ readonly path: string, readonly title: string, readonly text: string }} SitePage */
/** @typedef {{ readonly title: string, readonly paths: RegExp, readonly collapsed: boolean }} Section */

/** Pages outside of docs that a page links to. */
const besides = ["CONTRIBUTING.md", "SECURITY.md"];

/** @satisfies {readonly Section[]} The sidebar, by the reader's task. */
const sections = [
  { title: "Start", paths: /^(?:README\.md|docs\/start\.md)$/, collapsed: false },
  { title: "Concepts", paths: /^docs\/concepts\//, collapsed: false },
  { title: "How to", paths: /^docs\/how-to\//, collapsed: true },
  { title: "Topics", paths: /^docs\/[^/]+$/, collapsed: true },
  { title: "Reference", paths: /^docs\/reference\//, collapsed: true },
  { title: "Errors", paths: /^docs\/errors\//, collapsed: true },
  { title: "The project", paths: /^(?:docs\/internals\/|CONTRIBUTING\.md|SECURITY\.md)/, collapsed: true },
];

/** @param {string} path of a page in the repository @returns {string} its path in the site */
export function sitePath(path) {
  const inSite = path.startsWith("docs/") ? path.slice("docs/".length) : path.toLowerCase();
  return inSite.replace(/(^|\/)readme\.md$/i, "$1index.md");
}

/** @param {string} path of a page in the repository @returns {string} its address in the site, relative to the first page */
export function siteAddress(path) {
  return `./${sitePath(path).replace(/(?:index)?\.md$/, "")}`;
}

/** @returns {readonly SitePage[]} every page of the site; `path` is that of the repository */
export function sitePages() {
  const sources = [...readPages().map(({ path }) => path), ...besides];
  const known = new Map(sources.map((path) => [path, sitePath(path)]));
  return sources.map((path) => {
    const source = readFileSync(root + path, "utf8");
    const title = parsePage(path, source).headings[0]?.text.replaceAll("`", "") ?? path;
    return { path, title, text: rewritten(path, source, known) };
  });
}

/** @param {string} path @param {string} source @param {ReadonlyMap<string, string>} known */
function rewritten(path, source, known) {
  const { prose } = parsePage(path, source);
  // Lines of code are empty in `prose`, and stay as they are. The generator would show a comment as text.
  return source
    .split("\n")
    .map((line, at) => (prose[at] !== line ? line : /^<!--.*-->$/.test(line) ? "" : withLinks(path, line, known)))
    .join("\n");
}

/** @param {string} path @param {string} line @param {ReadonlyMap<string, string>} known */
function withLinks(path, line, known) {
  return line.replaceAll(
    /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)/g,
    (whole, /** @type {string} */ mark, /** @type {string} */ text, /** @type {string} */ target) => {
      if (/^(?:[a-z][a-z+.-]*:|#)/i.test(target)) return whole;
      const [file = "", anchor] = target.split("#");
      const source = posix.join(posix.dirname(path), file);
      if (mark === "!") return `![${text}](${relative(path, source.replace(/^docs\//, ""))})`;
      const to = known.get(source);
      if (to === undefined) return text;
      return `[${text}](${relative(path, to)}${anchor === undefined ? "" : `#${anchor}`})`;
    },
  );
}

/** @param {string} from a page of the repository @param {string} to a path of the site */
function relative(from, to) {
  const path = posix.relative(posix.dirname(sitePath(from)), to);
  return path.startsWith(".") ? path : `./${path}`;
}

/** @param {readonly SitePage[]} pages @returns the sidebar of VitePress */
export function sidebar(pages) {
  return sections.map(({ title, paths, collapsed }) => ({
    text: title,
    collapsed,
    items: pages
      .filter(({ path }) => paths.test(path) && sectionOf(path) === title)
      .map((page) => ({ text: page.title, link: `/${sitePath(page.path).replace(/(index)?\.md$/, "")}` })),
  }));
}

/** @param {string} path */
function sectionOf(path) {
  return sections.find(({ paths }) => paths.test(path))?.title;
}
