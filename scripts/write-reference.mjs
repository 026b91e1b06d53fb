// Writes docs/reference, the pages of agent frameworks, the index pages of folders, and the generated tables of other pages. Tests hold each page against the sources.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { frameworkPages } from "../test/support/reference/framework-pages.ts";
import { indexPages } from "../test/support/reference/index-pages.ts";
import { generatedPages } from "../test/support/generated-pages.ts";
import { referencePages } from "../test/support/reference/pages.ts";
import { root } from "./project.mjs";

mkdirSync(join(root, "docs", "reference"), { recursive: true });
for (const [path, text] of [...(await referencePages()), ...frameworkPages(), ...generatedPages()])
  writeFileSync(join(root, path), text);
for (const [path, text] of indexPages()) writeFileSync(join(root, path), text);
