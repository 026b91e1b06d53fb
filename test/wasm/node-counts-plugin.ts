import { fileURLToPath } from "node:url";
import { createServer, isRunnableDevEnvironment, type Plugin } from "vite";
import { keyhole } from "../../scripts/keyhole-plugin.mjs";

const file = fileURLToPath(new URL("count-bombs.ts", import.meta.url));

/**
 * Serves as `virtual:bombs-on-node` what the interpreter's hostile programs cost on Node, counted now and from these sources: every other runtime is held
 * against it, and no number has to be written down anew when the shell changes.
 */
export function bombsOnNode(): Plugin {
  const id = "virtual:bombs-on-node";
  return {
    name: "bombs-on-node",
    resolveId: (source) => (source === id ? `\0${id}` : undefined),
    load: async (source) =>
      source === `\0${id}` ? `export const nodeCounts = ${JSON.stringify(await countBombs())};` : undefined,
  };
}

async function countBombs(): Promise<object> {
  const server = await createServer({
    configFile: false,
    logLevel: "silent",
    appType: "custom",
    server: { middlewareMode: true, ws: false, watch: null },
    plugins: [keyhole()],
    ssr: { resolve: { conditions: ["keyhole-source", "node"] }, noExternal: [/^@keyhole\//] },
  });
  try {
    const { ssr } = server.environments;
    if (!isRunnableDevEnvironment(ssr)) throw new Error("the server has no runner");
    const { countBombs: count } = await ssr.runner.import<{ countBombs(): Promise<object> }>(file);
    return await count();
  } finally {
    await server.close();
  }
}
