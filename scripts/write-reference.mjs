// Writes docs/reference. A test holds each page against the sources.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { referencePages } from "../test/support/reference/pages.ts";
import { root } from "./project.mjs";

mkdirSync(join(root, "docs", "reference"), { recursive: true });
for (const [path, text] of await referencePages()) writeFileSync(join(root, path), text);
