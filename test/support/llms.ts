import { readFileSync } from "node:fs";
import { readPages } from "../docs/markdown.ts";
import { root } from "./sources.ts";

/** Pages that repeat others, or that no task needs. */
export const repeating: ReadonlySet<string> = new Set([
  "docs/errors/messages.md",
  "docs/hostile-battery.md",
  "docs/internals/contracts.md",
]);

const sections = [
  ["Start", /^(?:README\.md|docs\/start\.md)$/],
  ["Concepts", /^docs\/concepts\//],
  ["How to", /^docs\/how-to\//],
  ["Reference", /^docs\/reference\//],
  ["Errors", /^docs\/errors\//],
  ["Internals", /^docs\/internals\//],
  ["Topics", /^docs\/(?!start\.md)[^/]+$/],
] as const;

/**
 * The index for agents: one line for each page, by role. See llmstxt.org.
 *
 * @param addressOf the address of a page for the readers of the index. Default: its path in the repository
 */
export function llmsIndex(addressOf = (path: string): string => path): string {
  const pages = readPages().filter(({ path }) => !repeating.has(path));
  const lines = sections.flatMap(([title, paths]) => [
    `## ${title}`,
    "",
    ...pages
      .filter(({ path }) => paths.test(path))
      .map(({ path, headings }) => `- [${headings[0]?.text}](${addressOf(path)})`),
    "",
  ]);
  return [
    "# Keyhole",
    "",
    "> Keyhole runs the tools of an AI agent under a policy. It isolates tool code, checks each request, and records every call.",
    "",
    "`npm run write:llms` writes this index, and all pages as one file: `dist/llms-full.txt`. The site has both beside its first page.",
    "",
    ...lines,
  ].join("\n");
}

/** Every page of the index, one behind the other. */
export function llmsFull(): string {
  return readPages()
    .filter(({ path }) => !repeating.has(path))
    .map(({ path }) => `<!-- ${path} -->\n\n${readFileSync(root + path, "utf8")}`)
    .join("\n");
}
