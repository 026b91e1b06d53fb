import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

const kernel = new URL("../kernel/", import.meta.url);
/** An import or export of values from a file beside it. */
const valueImport = /^(?:import|export)\s+(?!type\b)[^;"]*?\bfrom\s+"(\.[^"]+)"/gm;

/**
 * Gives the page the sources of `@keyhole/kernel/tool` that the packer reads for a tool. A bundle of them would do the same
 * and give other names, and so another hash than the command gives.
 */
export function toolSources(): Plugin {
  return {
    name: "playground:tool-sources",
    load: {
      filter: { id: /\/playground\/src\/authoring\/tool-sources\.ts$/ },
      async handler() {
        const files = await reached("src/tool/index.ts");
        for (const path of files.keys()) this.addWatchFile(fileURLToPath(new URL(path, kernel)));
        return { code: `export const toolSources = ${JSON.stringify([...files])};`, moduleType: "js" };
      },
    },
  };
}

/** Texts by path in the kernel's package: a file, and what it imports. */
async function reached(first: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const waiting = [first];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path)) continue;
    const place = new URL(path, kernel);
    const text = await readFile(place, "utf8");
    found.set(path, text);
    for (const [, specifier = ""] of text.matchAll(valueImport))
      waiting.push(new URL(specifier, place).href.slice(kernel.href.length));
  }
  return found;
}
