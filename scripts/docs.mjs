// Builds the documentation as static pages with search, and the playground beside them, into dist/site. The generator has a lock of its own and is installed
// when it is missing.
//
//   npm run docs            builds the pages; a broken link fails the build
//   npm run docs -- --open  then serves them on 127.0.0.1
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { llmsFull, llmsIndex, repeating } from "../test/support/llms.ts";
import { installFolder } from "./install.mjs";
import { root, run } from "./project.mjs";
import { siteAddress, sidebar, sitePages, sitePath } from "./site/pages.mjs";
import { buildPlayground } from "./site/playground.mjs";

const site = join(root, "site");
const folder = join(site, "pages");

await installFolder("the generator of the site", site);

const pages = sitePages();
rmSync(folder, { recursive: true, force: true });
for (const { path, text } of pages) {
  const file = join(folder, sitePath(path));
  mkdirSync(dirname(file), { recursive: true });
  // The search passes over pages that repeat others.
  writeFileSync(file, repeating.has(path) ? `---\nsearch: false\n---\n\n${text}` : text);
}
cpSync(join(root, "docs", "pictures"), join(folder, "pictures"), { recursive: true });
cpSync(join(root, "docs", "playground.png"), join(folder, "playground.png"));
cpSync(join(root, "packages", "playground", "public", "icon.svg"), join(folder, "public", "icon.svg"));
writeFileSync(join(folder, "sidebar.json"), JSON.stringify(sidebar(pages)));

const vitepress = join(site, "node_modules", "vitepress", "bin", "vitepress.js");
const built = await run("node", [vitepress, "build", site], {});
if (built.code !== 0) process.exit(1);
writeFileSync(join(root, "dist", "site", "llms.txt"), llmsIndex(siteAddress));
writeFileSync(join(root, "dist", "site", "llms-full.txt"), llmsFull());
await buildPlayground(join(root, "dist", "site", "playground"));
console.log(`${pages.length} pages in dist/site`);
if (process.argv.includes("--open")) await run("node", [vitepress, "serve", site, "--host", "127.0.0.1"], {});
