// Builds the playground and its verifier as files beside the pages of the site. Nothing of it needs a server of its own.
import { join } from "node:path";
import { createBuilder } from "vite";
import { root } from "../project.mjs";

/** @param {string} outDir the folder of the playground in the site */
export async function buildPlayground(outDir) {
  const build = { outDir, emptyOutDir: false };
  const builder = await createBuilder({
    configFile: join(root, "vite.config.ts"),
    base: "./",
    logLevel: "warn",
    environments: { client: { build }, verify: { build } },
  });
  for (const name of ["client", "verify"]) {
    const environment = builder.environments[name];
    if (environment === undefined) throw new Error(`vite.config.ts has no environment ${name}.`);
    await builder.build(environment);
  }
}
