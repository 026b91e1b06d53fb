import { readFileSync } from "node:fs";
import { defineConfig } from "vitepress";
import { anchorOf } from "../../test/docs/markdown.ts";

const sidebar = JSON.parse(readFileSync(new URL("../pages/sidebar.json", import.meta.url), "utf8"));

/**
 * A page is text: braces and angle brackets in it are no attributes, tags or expressions of Vue.
 *
 * @param {import("vitepress").MarkdownRenderer} markdown
 */
function plainText(markdown) {
  markdown.renderer.rules.text = (tokens, at) =>
    markdown.utils.escapeHtml(tokens[at]?.content ?? "").replaceAll("{{", "<span v-pre>{{</span>");
}

export default defineConfig({
  title: "Keyhole",
  description:
    "Keyhole runs the tools of an AI agent under a policy, each in its isolate, with a log that anyone can verify.",
  lang: "en",
  srcDir: "pages",
  outDir: "../dist/site",
  cleanUrls: true,
  // The pictures follow the system, so the pages do as well.
  appearance: "force-auto",
  head: [["link", { rel: "icon", type: "image/svg+xml", href: "/icon.svg" }]],
  markdown: {
    attrs: { disable: true },
    html: false,
    linkify: false,
    languageAlias: { policy: "json" },
    anchor: { slugify: anchorOf },
    config: plainText,
  },
  themeConfig: {
    logo: "/icon.svg",
    // Every word counts. Short words match as they are: "a" finds no "api".
    search: {
      provider: "local",
      options: {
        miniSearch: {
          searchOptions: {
            combineWith: "AND",
            prefix: (term) => term.length > 3,
            fuzzy: (term) => (term.length > 5 ? 0.15 : false),
          },
        },
      },
    },
    nav: [
      { text: "Start", link: "/start" },
      { text: "Concepts", link: "/concepts/" },
      { text: "How to", link: "/how-to/" },
      { text: "Policy", link: "/policy" },
      { text: "Errors", link: "/errors/" },
      { text: "Reference", link: "/reference/" },
      // Not a page of this site: a whole load.
      { text: "Playground", link: "/playground/", target: "_self" },
    ],
    sidebar,
    outline: { level: [2, 3], label: "On this page" },
    docFooter: { prev: false, next: false },
    notFound: {
      title: "This site has no such page",
      quote: "The address is wrong, or the page has moved. The search above finds pages by their words.",
      linkLabel: "Open the first page",
      linkText: "Open the first page",
    },
  },
});
