// Builds the page as `npm start` does, into the folder that is named.
import { fileURLToPath } from "node:url";
import { build } from "vite";

const [outDir] = process.argv.slice(2);
await build({
  configFile: fileURLToPath(new URL("../../../vite.config.ts", import.meta.url)),
  logLevel: "error",
  environments: { client: { build: { outDir, sourcemap: false } } },
});
