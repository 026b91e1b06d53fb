// Writes the pictures of the docs, as SVG that follows the theme of its reader. A test holds the files against this script.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pictures } from "./pictures/pictures.mjs";
import { root } from "./project.mjs";

const folder = join(root, "docs", "pictures");
mkdirSync(folder, { recursive: true });
for (const [name, svg] of Object.entries(pictures)) writeFileSync(join(folder, `${name}.svg`), svg);
