import { createServer, isRunnableDevEnvironment } from "vite";
import { keyhole } from "../../scripts/keyhole-plugin.mjs";

/** Runs the default export of a file of this repository on Node as it is built: with the imports that only the plugin knows. */
export async function runOnNode(file: string, ...given: readonly unknown[]): Promise<object> {
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
    const module = await ssr.runner.import<{ default(...given: readonly unknown[]): Promise<object> }>(file);
    return await module.default(...given);
  } finally {
    await server.close();
  }
}
