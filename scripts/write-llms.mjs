// Writes llms.txt, the index of the documentation for agents, and dist/llms-full.txt with all of it. A test holds the index against the pages.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { llmsFull, llmsIndex } from "../test/support/llms.ts";
import { root } from "./project.mjs";

writeFileSync(join(root, "llms.txt"), llmsIndex());
mkdirSync(join(root, "dist"), { recursive: true });
writeFileSync(join(root, "dist", "llms-full.txt"), llmsFull());
