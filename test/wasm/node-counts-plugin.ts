import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";
import { runOnNode } from "../support/run-on-node.ts";

/**
 * Serves as `virtual:bombs-on-node` what the interpreter's hostile programs cost on Node, counted now and from these sources: every other runtime is held
 * against it, and no number has to be written down anew when the shell changes.
 */
export function bombsOnNode(): Plugin {
  return onNode("virtual:bombs-on-node", "nodeCounts", "./count-bombs.ts");
}

/** Serves as `virtual:suspended-on-node` a call that was suspended by a host on Node, in another process than any test. */
export function suspendedOnNode(): Plugin {
  return onNode("virtual:suspended-on-node", "suspended", "./suspend-call.ts");
}

/** Serves as `virtual:urls-on-node` what the interpreter makes of URLs on Node. */
export function urlsOnNode(): Plugin {
  return onNode("virtual:urls-on-node", "nodeUrls", "./urls.ts");
}

/** @param file its default export is run once for all projects, and what it resolves to becomes the export of that name */
function onNode(id: string, name: string, file: string): Plugin {
  let ran: Promise<object> | undefined;
  return {
    name: id,
    resolveId: (source) => (source === id ? `\0${id}` : undefined),
    async load(source) {
      if (source !== `\0${id}`) return undefined;
      ran ??= runOnNode(fileURLToPath(new URL(file, import.meta.url)));
      return `export const ${name} = ${JSON.stringify(await ran)};`;
    },
  };
}
