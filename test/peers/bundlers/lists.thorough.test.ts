import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import * as esbuild from "esbuild";
import { type Plugin, watch } from "rollup";
import * as vite from "vite";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import webpack from "webpack";
import { packedApp, removePackedApps } from "../../support/packed-app.ts";
import { pluginOf } from "./program.ts";

/* Lists of tools, `keyhole:./tools/*.js?all`, in the bundlers themselves: each list is the folder's, also in a build after the first. */

const toolOf = (name: string): string =>
  `export default { definition: { name: "${name}", version: "1.0.0", description: "Under test.", input: { type: "object" }, output: { kind: "json" } }, code: { execute: () => "tool:${name}" } };\n`;

const importAll = (pattern: string): string =>
  `import all from "keyhole:${pattern}?all";\nglobalThis.listed = all.map((each) => each.manifest.name);\n`;

const run = promisify(execFile);

let app: string;
beforeAll(() => {
  app = packedApp({});
});
afterAll(removePackedApps);

/** A program in a folder of its own, with what its bundle lists. */
function listing(folder: string, pattern: string) {
  const at = (path: string): string => join(app, folder, path);
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
  };
  write("src/main.js", importAll(pattern));
  return {
    at,
    write,
    add: (path: string, name: string) => write(`src/${path}`, toolOf(name)),
    remove: (path: string) => rmSync(at(`src/${path}`), { recursive: true }),
    listed: () =>
      [...new Set(readFileSync(at("dist/main.js"), "utf8").match(/tool:\w+/g))].map((each) => each.slice(5)).sort(),
  };
}

type Listing = ReturnType<typeof listing>;

async function webpackOf({ at }: Listing): Promise<webpack.Compiler> {
  const plugins = [await pluginOf<webpack.WebpackPluginInstance>(app, "webpack")];
  const output = { path: at("dist") };
  return webpack({ mode: "production", context: app, entry: at("src/main.js"), output, plugins })!;
}

/** @returns the end of the watching, once there is a first output */
const watchers: Readonly<Record<string, (program: Listing) => Promise<() => Promise<unknown>>>> = {
  async webpack(program) {
    const compiler = await webpackOf(program);
    const first = Promise.withResolvers<void>();
    const watching = compiler.watch({ poll: 20, aggregateTimeout: 5 }, (error) => {
      if (error) first.reject(error);
      else first.resolve();
    })!;
    await first.promise;
    return promisify(watching.close.bind(watching));
  },
  async rollup({ at }) {
    const plugins = [await pluginOf<Plugin>(app, "rollup")];
    const output = { file: at("dist/main.js") };
    const chokidar = { usePolling: true, interval: 20 };
    const watcher = watch({ input: at("src/main.js"), plugins, output, watch: { chokidar } });
    await new Promise<void>((resolve, reject) => {
      watcher.on("event", (event) => {
        if (event.code === "ERROR") reject(new Error("rollup failed", { cause: event.error }));
        if (event.code === "END") resolve();
      });
    });
    return () => watcher.close();
  },
  async esbuild({ at }) {
    const plugins = [await pluginOf<esbuild.Plugin>(app, "esbuild")];
    const options = { bundle: true, format: "esm", logLevel: "silent" } as const;
    const context = await esbuild.context({
      ...options,
      entryPoints: [at("src/main.js")],
      outfile: at("dist/main.js"),
      plugins,
    });
    await context.rebuild();
    await context.watch();
    return () => context.dispose();
  },
  async Vite({ at }) {
    const lib = { entry: at("src/main.js"), formats: ["es"], fileName: () => "main.js" } satisfies vite.LibraryOptions;
    const watcher = (await vite.build({
      root: at("."),
      configFile: false,
      logLevel: "silent",
      plugins: [await pluginOf<vite.Plugin>(app, "vite")],
      build: { lib, outDir: at("dist"), watch: {} },
    })) as vite.Rolldown.RolldownWatcher;
    await new Promise<void>((resolve, reject) => {
      watcher.on("event", (event) => {
        if (event.code === "ERROR") reject(new Error("rollup failed", { cause: event.error }));
        if (event.code === "END") resolve();
      });
    });
    return () => watcher.close();
  },
};

const soon = { timeout: 20_000, interval: 20 };

/** A watcher that only begins takes the file for one that was there: it is written again, until it is seen. */
function seen(program: Listing, path: string, name: string, listed: readonly string[]): Promise<void> {
  const interval = 500;
  return vi.waitFor(
    () => {
      if (String(program.listed()) !== String(listed)) program.add(path, name);
      expect(program.listed()).toEqual(listed);
    },
    { ...soon, interval },
  );
}

describe.each(Object.entries(watchers))("a watching %s", (name, start) => {
  it(
    "lists what its folder holds: more files, fewer, and those of a new folder in it",
    { timeout: 60_000 },
    async () => {
      const program = listing(`watched-${name}`, "./tools/**/*.js");
      program.add("tools/a.js", "a");
      const close = await start(program);
      try {
        expect(program.listed()).toEqual(["a"]);
        await seen(program, "tools/b.js", "b", ["a", "b"]);
        program.remove("tools/a.js");
        await vi.waitFor(() => expect(program.listed()).toEqual(["b"]), soon);
        await seen(program, "tools/later/deep/c.js", "c", ["b", "c"]);
      } finally {
        await close();
      }
    },
  );

  it("lists what a folder holds that was not there", { timeout: 60_000 }, async () => {
    const program = listing(`later-${name}`, "./later/deep/*.js");
    const close = await start(program);
    try {
      expect(program.listed()).toEqual([]);
      await seen(program, "later/deep/a.js", "a", ["a"]);
    } finally {
      await close();
    }
  });
});

/** A production build in a process of its own, with the version of the plugin that the program has now. */
const build = (folder: string): string => `import webpack from ${JSON.stringify(import.meta.resolve("webpack"))};
import { keyhole } from "keyhole/webpack";
const compiler = webpack({
  mode: "production", context: ${JSON.stringify(folder)}, entry: "./src/main.js", plugins: [keyhole()],
  cache: { type: "filesystem", cacheDirectory: ${JSON.stringify(join(folder, ".cache"))} },
  output: { path: ${JSON.stringify(join(folder, "dist"))} },
});
compiler.run((error, stats) => {
  if (error ?? stats.hasErrors()) process.exitCode = 1;
  console.log(error ?? stats.toString());
  compiler.close(() => {});
});
`;

describe("webpack with a cache of files", () => {
  const builder = (program: Listing) => {
    writeFileSync(join(app, "build.js"), build(program.at(".")));
    return async (): Promise<string> => {
      await run(process.execPath, ["build.js"], { cwd: app });
      return readFileSync(program.at("dist/main.js"), "utf8");
    };
  };

  it("lists what the folder holds at each build", async () => {
    const program = listing("cached", "./tools/*.js");
    const built = builder(program);
    program.add("tools/a.js", "a");
    program.add("tools/old.js", "old");
    await built();
    expect(program.listed()).toEqual(["a", "old"]);
    program.add("tools/b.js", "b");
    await built();
    expect(program.listed()).toEqual(["a", "b", "old"]);
    program.remove("tools/old.js");
    await built();
    expect(program.listed()).toEqual(["a", "b"]);
  });

  it("packs anew with a file that comes before one of its own, and with another version of the packer", async () => {
    const program = listing("inputs", "./tools/*.js");
    const built = builder(program);
    program.write(
      "src/tools/a.js",
      `import { word } from "../word";\n${toolOf("a").replace("Under test.", '" + word + "')}`,
    );
    program.write("src/word.js", 'export const word = "plain";');
    expect(await built()).toContain("plain");
    program.write("src/word.ts", 'export const word = "typed";');
    expect(await built()).toContain("typed");
    change("dist/package.json.js", (text) => text.replace('version = "', 'version = "9.'));
    change("dist/pack/module-text.js", (text) =>
      text.replaceAll("export default ", "globalThis.packedBy = 9; export default "),
    );
    expect(await built()).toContain("packedBy");
  });

  function change(path: string, edit: (text: string) => string): void {
    const file = join(app, "node_modules/keyhole", path);
    const text = edit(readFileSync(file, "utf8"));
    writeFileSync(file, text);
  }
});
