import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { keyhole, type KeyholeOptions } from "keyhole/vite";
import { build, createServer, type InlineConfig, type Plugin, type Rolldown, type ViteDevServer } from "vite";

/** In this repository: a packer reads nothing outside of it, and so finds the packages of no other place. */
const parent = fileURLToPath(new URL("../../.programs", import.meta.url));
const folders: string[] = [];

/** A program in a folder of its own, which finds the same packages as this one. */
export function program(files: Readonly<Record<string, string | Uint8Array>>, prefix = "vite-"): string {
  mkdirSync(parent, { recursive: true });
  const root = mkdtempSync(join(parent, prefix));
  folders.push(root);
  for (const [path, text] of Object.entries({ "package.json": '{ "name": "program" }', ...files })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

export function removePrograms(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
}

export function config(root: string, options: KeyholeOptions = {}): InlineConfig {
  return {
    root,
    // Programs share one node_modules, in which a dev server would take away what another one has bundled there.
    cacheDir: join(root, ".vite"),
    configFile: false,
    logLevel: "silent",
    plugins: [keyhole(options)],
    resolve: { conditions: ["keyhole-source"] },
    ssr: { resolve: { conditions: ["keyhole-source"] } },
  };
}

/** A dev server for its modules alone: no page asks it for packages. */
export function serveModules(root: string, plugins: readonly Plugin[] = []): Promise<ViteDevServer> {
  const { plugins: own = [], ...rest } = config(root);
  return createServer({
    ...rest,
    plugins: [...own, ...plugins],
    optimizeDeps: { noDiscovery: true },
    server: { middlewareMode: true, ws: false, watch: null },
  });
}

/** The text of the one chunk that a build of `main.ts` gives. */
export async function buildMain(root: string, options?: KeyholeOptions): Promise<string> {
  const result = (await build({
    ...config(root, options),
    build: { write: false, minify: false, lib: { entry: "main.ts", formats: ["es"] } },
  })) as Rolldown.RolldownOutput[];
  return result[0]!.output[0].code;
}

export function toolText(name: string, body = "({ name }) => name", more = ""): string {
  return `import { defineTool } from "@keyhole/kernel/tool";
export default defineTool({
  name: "${name}", version: "1.0.0", description: "Under test.",
  input: { type: "object", properties: { name: { type: "string" } } }, output: { kind: "text" }, ${more}
  execute: ${body},
});
`;
}
