// Builds `dist` of the public packages: what a user installs. In the repository nothing reads it.
import { chmodSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "vite";
import { keyhole } from "./keyhole-plugin.mjs";
import { root, run, typescriptProjects } from "./project.mjs";

/** The public packages, each after those that it imports. */
const publicPackages = ["kernel", "worker-host", "edge"];

/** @param {string} name */
function readManifest(name) {
  return JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"));
}

/**
 * The source files behind a package's exports; `./brokers/*` stands for each file that the pattern matches.
 *
 * @param {string} name
 * @returns {string[]}
 */
function entriesOf(name) {
  const folder = join(root, "packages", name);
  const { exports } = readManifest(name);
  const sources = Object.values(exports).flatMap((target) => target["keyhole-source"] ?? []);
  return sources.flatMap((source) => globSync(source, { cwd: folder })).map((path) => join(folder, path));
}

/**
 * Keeps the modules as they are, so that a user's bundler leaves out what is not used, and runs our own plugin over them.
 *
 * @param {string} name
 */
async function buildModules(name) {
  const folder = join(root, "packages", name);
  const { dependencies = {}, peerDependencies = {} } = readManifest(name);
  const packages = [...Object.keys(dependencies), ...Object.keys(peerDependencies)];
  await build({
    root: folder,
    configFile: false,
    // Files beside a module, such as a worker, are found from where the module is.
    base: "./",
    logLevel: "warn",
    plugins: [keyhole()],
    build: {
      target: "es2024",
      outDir: "dist",
      emptyOutDir: false,
      minify: false,
      sourcemap: true,
      lib: { entry: entriesOf(name), formats: ["es"] },
      rolldownOptions: {
        // Modules of WebAssembly are metered by our plugin, and become files of the package.
        external: (id) =>
          /^(?:node|cloudflare):/.test(id) ||
          (!/\.wasm(?:\?|$)/.test(id) && packages.some((each) => id === each || id.startsWith(`${each}/`))),
        output: {
          preserveModules: true,
          preserveModulesRoot: join(folder, "src"),
          // npm packs no folder of the name node_modules, from where Vite serves what a plugin wrote.
          entryFileNames: ({ name }) => `${name.replace(/^.*node_modules\/\.vite\//, "")}.js`,
        },
      },
    },
  });
}

/**
 * Writes declarations for every TypeScript project of a package. Other packages are taken from their `dist`, as a user
 * has them.
 *
 * @param {string} name
 */
async function buildDeclarations(name) {
  const folder = join(root, "packages", name);
  const cache = join(root, "node_modules", ".keyhole");
  mkdirSync(cache, { recursive: true });
  for (const project of typescriptProjects().filter((path) => `${path}/`.startsWith(`packages/${name}/`))) {
    const config = join(cache, `${project.replaceAll("/", "-")}.json`);
    const compilerOptions = {
      noEmit: false,
      emitDeclarationOnly: true,
      declarationMap: true,
      rewriteRelativeImportExtensions: true,
      rootDir: join(folder, "src"),
      outDir: join(folder, "dist"),
      customConditions: [],
    };
    writeFileSync(config, JSON.stringify({ extends: join(root, project, "tsconfig.json"), compilerOptions }));
    const { code } = await run("tsc", ["-p", config]);
    if (code !== 0) throw new Error(`${project} gives no declarations`);
  }
}

for (const name of publicPackages) {
  if (name !== "edge") rmSync(join(root, "packages", name, "dist"), { recursive: true, force: true });
  await buildModules(name);
  await buildDeclarations(name);
}
// npm makes a command executable where it installs a package; here it is linked as it is.
chmodSync(join(root, "packages/worker-host/dist/node/cli.js"), 0o755);
