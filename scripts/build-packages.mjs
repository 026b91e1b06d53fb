// Builds `dist` of the public packages: what a user installs. In the repository nothing reads it. Types are not checked:
// `npm test` and `npm run check` do that.
import { chmodSync, copyFileSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build as esbuild } from "esbuild";
import { build, createBuilder } from "vite";
import { keyhole } from "./keyhole-plugin.mjs";
import { publicPackages, root, run, typescriptProjects } from "./project.mjs";
import { buildAll, isBuilt } from "./serve/build.mjs";

/** @param {string} name */
function readManifest(name) {
  return JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"));
}

/** @typedef {{ "keyhole-source"?: string, types?: string, default?: string, node?: Target }} Target */

/** They run on a newer Node than the rest of their package or on none, and say so themselves. */
const speakForThemselves = ["src/node/index.ts", "src/cli.ts", "src/dev/cli.ts", "src/not-on-node.ts"];

/**
 * An entry's first statement: an older Node than `engines` names is told so when it imports the entry, before a call fails.
 *
 * @param {string} name
 * @param {string | null} module the file of the entry
 */
function nodeCheck(name, module) {
  const { name: packageName, engines } = readManifest(name);
  const [, major] = /^>=(\d+)$/.exec(engines?.node ?? "") ?? [];
  if (major === undefined || speakForThemselves.some((path) => module?.endsWith(path))) return "";
  const version = "globalThis.process?.versions?.node";
  const message = `"${packageName} needs Node ${major} or newer; got " + ${version} + "."`;
  return `if (Number.parseInt(${version}) < ${major}) throw new Error(${message});`;
}

/** @param {Target} target */
function isModule({ "keyhole-source": source = "" }) {
  return source.endsWith(".ts") && !source.endsWith(".d.ts");
}

/** @param {string} name @returns {Target[]} */
function targetsOf(name) {
  /** @type {Target[]} */
  const targets = Object.values(readManifest(name).exports);
  return targets.flatMap((target) => (target.node === undefined ? target : [target, target.node]));
}

/**
 * The source files behind a package's exports and commands; `./brokers/*` stands for each file that the pattern matches.
 *
 * @param {string} name
 * @returns {string[]}
 */
function entriesOf(name) {
  const folder = join(root, "packages", name);
  const sources = targetsOf(name)
    .filter(isModule)
    .flatMap((target) => target["keyhole-source"] ?? []);
  const commands = Object.values(readManifest(name).bin ?? {}).map((path) =>
    path.replace("/dist/", "/src/").replace(/\.js$/, ".ts"),
  );
  const paths = [...sources, ...commands].flatMap((source) => globSync(source, { cwd: folder }));
  return [...new Set(paths)].map((path) => join(folder, path));
}

/**
 * Copies what is exported and not compiled: declarations of `keyhole:` imports, and the header for C.
 *
 * @param {string} name
 */
function copyFiles(name) {
  const folder = join(root, "packages", name);
  for (const target of targetsOf(name)) {
    const { "keyhole-source": source, types, default: to = types } = target;
    if (source === undefined || to === undefined || isModule(target)) continue;
    mkdirSync(dirname(join(folder, to)), { recursive: true });
    copyFileSync(join(folder, source), join(folder, to));
  }
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
      // The modules read as their sources do, which the package does not hold.
      sourcemap: false,
      lib: { entry: entriesOf(name), formats: ["es"] },
      rolldownOptions: {
        checks: { bundlerTimings: false },
        // Modules of WebAssembly are metered by our plugin, and become files of the package.
        external: (id) =>
          /^(?:node|cloudflare):/.test(id) ||
          (!/\.wasm(?:\?|$)/.test(id) && packages.some((each) => id === each || id.startsWith(`${each}/`))),
        output: {
          preserveModules: true,
          preserveModulesRoot: join(folder, "src"),
          // npm packs no folder of the name node_modules, from where Vite serves what a plugin wrote.
          banner: ({ isEntry, facadeModuleId }) => (isEntry ? nodeCheck(name, facadeModuleId) : ""),
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
      noCheck: true,
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
  rmSync(join(root, "packages", name, "dist"), { recursive: true, force: true });
  copyFiles(name); // Of all before the first is built: the declarations of imports are in one package and used in others.
}
for (const name of publicPackages) {
  await buildModules(name);
  await buildDeclarations(name);
}
// A page without a bundler loads this module, and so does the worker of its kernel. Parts that few pages use load when they are asked for.
await esbuild({
  entryPoints: { keyhole: join(root, "packages/keyhole/dist/browser/index.js") },
  outdir: join(root, "packages/keyhole/dist/page"),
  bundle: true,
  splitting: true,
  format: "esm",
  target: "es2024",
  minify: true,
  legalComments: "none",
  // The other exports stand at the end of one long line, where tools that guess the format of a file do not see them.
  banner: { js: "export {};" },
  logLevel: "warning",
  // Our own modules name each other for nothing where the build took the use out.
  logOverride: { "ignored-bare-import": "silent" },
});
// A Worker is one file: nobody bundles it after us.
const builder = await createBuilder({ configFile: join(root, "vite.config.ts"), logLevel: "warn" });
const { sandbox } = builder.environments;
if (sandbox === undefined) throw new Error("vite.config.ts builds no sandbox");
await builder.build(sandbox);
const built = readFileSync(join(root, "packages/edge/build/sandbox.js"), "utf8");
writeFileSync(
  join(root, "packages/edge/dist/sandbox-worker.js"),
  built.replace(/\n\/\/# sourceMappingURL=.*\s*$/, "\n"),
);
// Only for tarballs that people install: the page takes as long as all packages, and no check of them reads it.
if (process.argv.includes("--playground")) {
  if (!isBuilt()) await buildAll();
  const to = join(root, "packages/edge/dist/playground");
  cpSync(join(root, "packages/playground/dist"), to, { recursive: true, filter: (path) => !path.endsWith(".map") });
}
// npm makes a command executable where it installs a package; here it is linked as it is.
for (const name of publicPackages)
  for (const path of Object.values(readManifest(name).bin ?? {})) chmodSync(join(root, "packages", name, path), 0o755);
