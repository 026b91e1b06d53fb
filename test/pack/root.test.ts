import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import * as esbuild from "esbuild";
import * as fc from "fast-check";
import { type BundleError, packTool } from "keyhole";
import { keyhole as forEsbuild } from "keyhole/esbuild";
import { keyhole as forRollup } from "keyhole/rollup";
import { keyhole as forVite } from "keyhole/vite";
import { build, type Plugin } from "vite";
import { afterEach, describe, expect, it } from "vitest";
import { projectRoot } from "../../packages/keyhole/src/node/root.ts";
import { runCommand } from "../../packages/keyhole/src/command/run-command.ts";
import { ioIn } from "../support/command-files.ts";

const folders: string[] = [];
afterEach(() => folders.splice(0).forEach((each) => rmSync(each, { recursive: true })));

type Files = Readonly<Record<string, string | { readonly link: string }>>;

/** Files and links in a folder of their own; a link is relative to its place. */
function tree(files: Files): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "keyhole-root-")));
  folders.push(folder);
  for (const [path, content] of Object.entries(files)) {
    const at = join(folder, path);
    mkdirSync(dirname(at), { recursive: true });
    if (typeof content === "string") writeFileSync(at, content);
    else symlinkSync(content.link, at);
  }
  return folder;
}

const toolOf = (source: string): string =>
  `import x from ${JSON.stringify(source)};
export default { definition: { name: "x", version: "1.0.0", description: "x" + JSON.stringify(x), input: { type: "object" }, output: { kind: "text" } }, code: { execute: () => "" } };`;

const named = (name: string): string => JSON.stringify({ name });

/** What is packed, or why not. */
const outcome = (file: string, root: string): Promise<string> =>
  packTool(file, { root }).then(
    ({ package: pkg }) => String(pkg.code),
    (error: unknown) => (error as BundleError).message,
  );

describe("the packer reads nothing outside of its root", () => {
  it.each<[string, string, Files]>([
    ["a file above", "../secret.json", {}],
    ["a linked file", "./linked.json", { "root/linked.json": { link: "../secret.json" } }],
    ["a linked folder", "./linked/secret.json", { "root/linked": { link: ".." } }],
    [
      "a folder without a package.json in a package that holds the root",
      "../secret.json",
      { "package.json": named("victim") },
    ],
    ["a package that is linked from outside", "x", { "root/node_modules/x": { link: "../../store" } }],
    [
      "a package.json that is linked to a file outside",
      "x/../../../secret.json",
      { "root/node_modules/x/package.json": { link: "../../../secret.json" } },
    ],
    ["a package above", "y", { "node_modules/y/index.js": '"SECRET"', "node_modules/y/package.json": named("y") }],
  ])("%s", async (_, source, more) => {
    const folder = tree({
      "secret.json": '"SECRET"',
      "store/package.json": named("x"),
      "store/index.js": 'export default "SECRET"',
      "root/tool.js": toolOf(source),
      ...more,
    });
    expect(await outcome(join(folder, "root/tool.js"), join(folder, "root"))).toMatch(
      /outside of (?:the root|its package)|cannot be found under the root/,
    );
  });

  it.each<[string, string, Files]>([
    [
      "moves with a package.json that is a link",
      "../../secret.json",
      { "a/b/package.json": { link: "../../package.json" } },
    ],
    [
      "is opened by its linked package.json",
      "x/../../secret.json",
      { "node_modules/x/package.json": { link: "../../secret.json" } },
    ],
    [
      "is linked from another package",
      "./linked.json",
      { "a/b/package.json": named("b"), "a/b/linked.json": { link: "../../secret.json" } },
    ],
  ])("and no package %s within it", async (_, source, more) => {
    const folder = tree({
      "package.json": named("victim"),
      "secret.json": '"SECRET"',
      "a/b/tool.js": toolOf(source),
      ...more,
    });
    expect(await outcome(join(folder, "a/b/tool.js"), folder)).toContain("outside of its package");
  });

  it("finds packages as npm workspaces and pnpm link them", async () => {
    const folder = tree({
      "package.json": JSON.stringify({ name: "all", workspaces: ["packages/*"] }),
      "packages/app/package.json": named("app"),
      "packages/app/tool.js": toolOf("@acme/words"),
      "packages/words/package.json": named("@acme/words"),
      "packages/words/index.js": 'import inner from "inner"; export default "words and " + inner;',
      "node_modules/@acme/words": { link: "../../packages/words" },
      "packages/words/node_modules/inner": { link: "../../../node_modules/.pnpm/inner@1.0.0/node_modules/inner" },
      "node_modules/.pnpm/inner@1.0.0/node_modules/inner/package.json": named("inner"),
      "node_modules/.pnpm/inner@1.0.0/node_modules/inner/index.js": 'export default "inner"',
    });
    expect(await outcome(join(folder, "packages/app/tool.js"), folder)).toMatch(/inner.*words and /s);
  });

  const paths = fc.tuple(
    fc.constantFrom("", "a/", "b/", "a/b/", "root/", "root/a/", "root/node_modules/p/"),
    fc.constantFrom("x.json", "package.json", "index.js", "link"),
  );
  const target = fc.constantFrom(
    "..",
    "../..",
    "../../..",
    ".",
    "../x.json",
    "../../x.json",
    "../package.json",
    "../root",
    "../a",
    "/",
  );
  const source = fc.constantFrom(
    "./x.json",
    "../x.json",
    "../../x.json",
    "./link",
    "./link/x.json",
    "./link/a/x.json",
    "./link/link/x.json",
    "p",
    "p/x.json",
    "p/../../x.json",
    "p/../../../x.json",
    "p/link",
    "p/link/x.json",
    "./a/x.json",
    "./a/link/x.json",
  );

  it("in any tree of files, links and packages", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(paths, fc.option(target)), { maxLength: 12 }),
        source,
        fc.constantFrom("root/", "root/a/"),
        async (entries, imported, at) => {
          const folder = tree({ "root/kept": "" });
          const isMade = new Set<string>();
          for (const [[place, name], link] of entries) {
            const path = join(folder, place, name);
            if (isMade.has(path)) continue;
            isMade.add(path);
            mkdirSync(dirname(path), { recursive: true });
            const content = JSON.stringify({ name: place.startsWith("root/") ? "inside" : "OUTSIDE" });
            if (link === null) writeFileSync(path, name === "index.js" ? `export default ${content}` : content);
            else symlinkSync(link, path);
          }
          const tool = join(folder, at, "tool.js");
          mkdirSync(dirname(tool), { recursive: true });
          writeFileSync(tool, toolOf(imported));
          const { files, text } = await packTool(tool, { root: join(folder, "root") }).then(
            (packed) => ({ files: packed.files, text: String(packed.package.code) }),
            // What it was about to read counts as an input: a repair of it makes another package.
            (error: unknown) => ({ files: [], text: (error as Error).message }),
          );
          for (const each of files) expect(realpathSync(each)).toContain(join(folder, "root/"));
          expect(text).not.toContain("OUTSIDE");
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe("the root is", () => {
  const project: Files = {
    "package.json": "{}",
    "app/package.json": JSON.stringify({ workspaces: ["*"] }),
    "app/inner/package.json": named("inner"),
    "app/inner/tools/deep/tool.js": "",
    "pnpm/pnpm-workspace.yaml": "",
    "pnpm/inner/package.json": named("inner"),
    "alone/package.json": "not JSON",
    "alone/tools/tool.js": "",
  };
  it.each([
    ["app/inner/tools/deep", "app"],
    ["pnpm/inner", "pnpm"],
    ["alone/tools", "alone"],
    ["alone", "alone"],
  ])("of the folder %s the folder %s", (folder, root) => {
    const all = tree(project);
    expect(projectRoot(join(all, folder))).toBe(join(all, root));
  });

  it("the folder itself where no folder around it is a project", () => {
    const all = tree({ "tools/tool.js": "" });
    expect(projectRoot(join(all, "tools"))).toBe(join(all, "tools"));
  });
});

describe("the root bounds", () => {
  const files: Files = {
    "secret.json": '"SECRET"',
    "app/package.json": named("app"),
    "app/tool.js": toolOf("./linked.json"),
    "app/linked.json": { link: "../secret.json" },
    "app/main.js": 'import tool from "keyhole:./tool.js"; console.log(tool);',
    "app/bytes.js": 'import bytes from "keyhole:./linked.json?bytes"; console.log(bytes);',
  };
  type Bundle = (folder: string, entry: string, root: string | undefined) => Promise<string>;
  const byVite =
    (plugin: (options: { readonly root?: string | undefined }) => unknown): Bundle =>
    async (folder, entry, root) => {
      const plugins = [plugin({ root }) as Plugin];
      const lib = { entry, formats: ["es"] as const };
      const built = await build({
        root: folder,
        configFile: false,
        logLevel: "silent",
        plugins,
        build: { write: false, lib: { ...lib, formats: ["es"] } },
      });
      return JSON.stringify(built);
    };
  const byEsbuild: Bundle = async (absWorkingDir, entry, root) => {
    const plugins = [forEsbuild({ root })];
    const { outputFiles } = await esbuild.build({
      absWorkingDir,
      entryPoints: [entry],
      bundle: true,
      write: false,
      logLevel: "silent",
      plugins,
    });
    return outputFiles[0]!.text;
  };

  it.each<[string, Bundle]>([
    ["esbuild", byEsbuild],
    ["Vite", byVite((options) => forVite(options))],
  ])("what the plugin for %s packs, and a caller widens it", async (_, bundle) => {
    const app = join(tree(files), "app");
    for (const entry of ["main.js", "bytes.js"])
      await expect(bundle(app, entry, undefined)).rejects.toThrow(/(?:linked|secret)\.json is outside of the root/);
    expect(await bundle(app, "bytes.js", "..")).toContain(btoa('"SECRET"'));
  });

  it("what the plugin for rollup packs, by the working directory", async () => {
    const app = join(tree(files), "app");
    for (const entry of ["main.js", "bytes.js"])
      await expect(byVite((options) => forRollup(options))(app, entry, app)).rejects.toThrow("outside of the root");
  });

  it.each(["pack", "list", "run"])("what `keyhole %s` packs, and --root widens it", async (verb) => {
    const folder = tree({ ...files, "app/inner.js": toolOf("../shared.json"), "shared.json": '"shared"' });
    const app = join(folder, "app");
    const run = async (line: string): Promise<string> => {
      const { output, errorOutput } = await runCommand(line.split(" "), ioIn(app));
      return output + errorOutput;
    };
    expect(await run(`${verb} tool.js`)).toContain("linked.json is outside of the root");
    expect(await run(`${verb} ../app/tool.js --root .`)).toContain("linked.json is outside of the root");
    // No package.json with a name bounds it there.
    writeFileSync(join(app, "package.json"), "{}");
    expect(await run(`${verb} inner.js`)).toContain('"../shared.json" cannot be found under the root');
    expect(await run(`${verb} inner.js --root ..`)).not.toContain("root");
  });
});
