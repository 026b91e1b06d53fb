/**
 * JavaScript under fuel: what an isolate costs, what metering costs, and how long another call waits while a tool computes. Part of `npm run bench:fuel`. Prints and
 * never fails on a time.
 */
import { fileURLToPath } from "node:url";
import { createServer } from "vite";
import { keyhole } from "../../scripts/keyhole-plugin.mjs";

const conditions = ["keyhole-source", "node", "development|production"];
// The interpreter carries its shell as text, which the plugin makes.
const server = await createServer({
  configFile: false,
  logLevel: "error",
  plugins: [keyhole()],
  resolve: { conditions },
  ssr: { noExternal: [/^@keyhole\//], resolve: { conditions } },
  server: { middlewareMode: true, ws: false },
});
try {
  const loaded = await server.ssrLoadModule(fileURLToPath(new URL("fuel/interpreter.ts", import.meta.url)));
  await (loaded as typeof import("./fuel/interpreter.ts")).measure();
} finally {
  await server.close();
}
