import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { OnLoadOptions, OnLoadResult, Plugin } from "esbuild";
import { keyhole as forEsbuild } from "keyhole/esbuild";
import { keyhole as forRollup } from "keyhole/rollup";
import { build, isRunnableDevEnvironment, type Plugin as VitePlugin, type Rolldown, type ViteDevServer } from "vite";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { resolveSpecifier } from "../../packages/keyhole/src/plugin/ids.ts";
import { listFolders, listId, listText } from "../../packages/keyhole/src/plugin/lists.ts";
import { config, program, removePrograms, serveModules, toolText } from "./program.ts";

/* `keyhole:./tools/*.ts?all` in a watching webpack, rollup and esbuild: test/peers/bundlers. */

afterAll(removePrograms);

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const importAll = 'import all from "keyhole:./tools/*.ts?all";\nexport default all;\n';

const quickly = { interval: 5, timeout: 10_000 };

async function serving(root: string, plugins: readonly VitePlugin[] = []): Promise<ViteDevServer> {
  const server = await serveModules(root, plugins);
  closing.push(() => server.close());
  return server;
}

it("a list reaches folders beside the importing file's, and leaves that file out", async () => {
  const root = program({ "src/main.ts": "", "tools/b.ts": "", "tools/a.ts": "" });
  const importer = join(root, "src/main.ts");
  const found = (pattern: string): (string | undefined)[] =>
    [...listText(listId(pattern, importer)).matchAll(/"keyhole:(.*?)"/g)].map(([, file]) => file);
  expect(found("../tools/*.ts")).toEqual([join(root, "tools/a.ts"), join(root, "tools/b.ts")]);
  expect(found("../{src,tools}/*.ts")).toEqual([join(root, "tools/a.ts"), join(root, "tools/b.ts")]);
  expect(listFolders(listId("../tools/*.ts", importer))).toEqual([join(root, "tools")]);
  const resolve = (source: string) => resolveSpecifier(source, importer, async () => undefined);
  expect(await resolve("keyhole:../tools/*.ts?all")).toEqual({ list: listId("../tools/*.ts", importer) });
  for (const pattern of ["tools/*.ts", "/tools/*.ts", ".../*.ts", "..\\*.ts"])
    await expect(resolve(`keyhole:${pattern}?all`)).rejects.toThrow("starts with");
});

describe("the list of a dev server", () => {
  it("follows the files of its folder, for page and server alike", async () => {
    const root = program({
      "main.ts": importAll,
      "tools/a.ts": toolText("a"),
      "tools/old.ts": toolText("old"),
    });
    const server = await serving(root);
    const { client, ssr } = server.environments;
    if (!isRunnableDevEnvironment(ssr)) throw new Error("the server has no runner");
    const id = listId("./tools/*.ts", join(root, "main.ts"));
    const both = async () => {
      await client.transformRequest("/main.ts");
      const page = (await client.transformRequest(id))!.code;
      const module = (await ssr.runner.import("/main.ts")) as { default: { manifest: { name: string } }[] };
      return [
        [...page.matchAll(/\/tools\/(\w+)\.ts\?/g)].map(([, name]) => name),
        module.default.map(({ manifest }) => manifest.name),
      ];
    };
    expect(await both()).toEqual([
      ["a", "old"],
      ["a", "old"],
    ]);

    writeFileSync(join(root, "tools/b.ts"), toolText("b"));
    server.watcher.emit("add", join(root, "tools/b.ts"));
    await vi.waitFor(
      async () =>
        expect(await both()).toEqual([
          ["a", "b", "old"],
          ["a", "b", "old"],
        ]),
      quickly,
    );

    rmSync(join(root, "tools/old.ts"));
    server.watcher.emit("unlink", join(root, "tools/old.ts"));
    await vi.waitFor(
      async () =>
        expect(await both()).toEqual([
          ["a", "b"],
          ["a", "b"],
        ]),
      quickly,
    );
  });

  it("makes the page load again, and only for a file that is listed", async () => {
    const root = program({ "main.ts": importAll, "tools/a.ts": toolText("a") });
    const [taken, sent]: string[][] = [[], []];
    const after = { name: "after", hotUpdate: ({ file }: { file: string }) => void taken!.push(file) };
    const server = await serving(root, [after]);
    const { client } = server.environments;
    await client.transformRequest("/main.ts");
    await client.transformRequest(listId("./tools/*.ts", join(root, "main.ts")));
    client.hot.send = (payload: unknown) => void sent!.push((payload as { type: string }).type);
    for (const file of ["tools/readme.md", "other.ts", "tools/b.ts"].map((each) => join(root, each))) {
      writeFileSync(file, toolText("b"));
      server.watcher.emit("add", file);
      await vi.waitFor(() => expect(taken).toContain(file), quickly);
    }
    await vi.waitFor(() => expect(sent).toEqual(["full-reload"]), quickly);
  });

  it("is watched where its folder is outside of the root", async () => {
    const outside = program({ "all.ts": importAll, "tools/a.ts": toolText("a") });
    const root = program({ "main.ts": `export { default } from ${JSON.stringify(join(outside, "all.ts"))};` });
    const server = await serving(root);
    const added = vi.spyOn(server.watcher, "add");
    const { client } = server.environments;
    for (const url of ["/main.ts", `/@fs${outside}/all.ts`, listId("./tools/*.ts", join(outside, "all.ts"))])
      await client.transformRequest(url);
    expect(added).toHaveBeenCalledWith(join(outside, "tools"));
  });
});

describe("a list in the inline script of a page", () => {
  const page = {
    "index.html": `<script type=module>${importAll.replace("export default", "globalThis.all =")}</script>`,
  };

  it("is built", async () => {
    const root = program({ ...page, "tools/a.ts": toolText("of_the_page") });
    const built = (await build({ ...config(root), build: { write: false } })) as Rolldown.RolldownOutput;
    const chunks = built.output.filter((each) => each.type === "chunk");
    expect(chunks.map(({ code }) => code).join()).toContain("of_the_page");
  });

  it("is served", async () => {
    const root = program({ ...page, "tools/a.ts": toolText("of_the_page") });
    const server = await serving(root);
    const { client } = server.environments;
    const html = await server.transformIndexHtml("/index.html", page["index.html"]);
    const [, script = ""] = /src="([^"]*html-proxy[^"]*)"/.exec(html) ?? [];
    await client.transformRequest(script.replace("&amp;", "&"));
    const list = await client.transformRequest(listId("./tools/*.ts", join(root, "index.html")));
    expect(list?.code).toContain("/tools/a.ts?keyhole-tool");
    expect((await client.transformRequest("/tools/a.ts?keyhole-tool"))?.code).toContain("of_the_page");
  });
});

describe("the folders of a list", () => {
  const files = { "src/main.ts": "", "src/tools/a.ts": "", "src/tools/deep/er/b.ts": "", "src/other/c.ts": "" };

  it.each([
    ["./tools/*.ts", ["src/tools"]],
    ["./*.ts", ["src"]],
    ["./tools/a.ts", ["src/tools"]],
    ["./*/*.ts", ["src", "src/other", "src/tools"]],
    ["./*/deep/*/b.ts", ["src", "src/other", "src/tools", "src/tools/deep", "src/tools/deep/er"]],
    ["./tools/**/*.ts", ["src/tools", "src/tools/deep", "src/tools/deep/er"]],
    ["./tools/**", ["src/tools", "src/tools/deep", "src/tools/deep/er"]],
    ["./{tools/deep,other}/*.ts", ["src", "src/other", "src/tools", "src/tools/deep", "src/tools/deep/er"]],
    ["./gone/deep/*.ts", ["src"]],
    ["./tools/gone/*.ts", ["src/tools"]],
    ["./../lib/*.ts", ["."]],
  ])("of %s", (pattern, folders) => {
    const root = program(files);
    const found = listFolders(listId(pattern, join(root, "src/main.ts")));
    expect([found[0], ...found.slice(1).sort()]).toEqual(folders.map((each) => join(root, each)));
  });

  it.each(["./tools/*.ts", "./*/*.ts", "./gone/deep/*.ts", "./tools/**/*.ts", "./{gone,tools/deep}/*/*.ts", "./**"])(
    "hold every entry that changes %s",
    (pattern) => {
      for (const file of [
        "src/tools/z.ts",
        "src/new/z.ts",
        "src/gone/deep/z.ts",
        "src/tools/deep/z/z.ts",
        "src/z.ts",
      ]) {
        const root = program(files);
        const id = listId(pattern, join(root, "src/main.ts"));
        const [text, folders] = [listText(id), listFolders(id)];
        mkdirSync(dirname(join(root, file)), { recursive: true });
        writeFileSync(join(root, file), "");
        if (listText(id) === text) continue;
        // The entry that is new: the file, or the outermost new folder around it.
        const seen = folders.some((each) => join(root, file).startsWith(`${each}/`) && isNewEntry(each, root, file));
        expect(seen, `${file} in ${folders.join()}`).toBe(true);
      }
    },
  );

  /** Whether the next part of the path, seen from the folder, was not there before. */
  function isNewEntry(folder: string, root: string, file: string): boolean {
    const [next = ""] = join(root, file)
      .slice(folder.length + 1)
      .split("/");
    const entry = join(folder, next).slice(root.length + 1);
    return !Object.keys(files).some((each) => each === entry || each.startsWith(`${entry}/`));
  }
});

describe("a list in a bundler that watches", () => {
  const root = (): string =>
    program({ "main.ts": importAll, "tools/a.ts": toolText("a"), "deep/x/b.ts": toolText("b") });

  it("gives esbuild each folder", async () => {
    const folder = root();
    type Load = (args: { readonly path: string }) => Promise<OnLoadResult>;
    const loads: Load[] = [];
    const onLoad = (_: OnLoadOptions, load: Load): void => void loads.push(load);
    const setup = forEsbuild().setup as (build: object) => void;
    setup({ initialOptions: {}, onStart() {}, onResolve() {}, onLoad } satisfies Partial<
      Record<keyof Parameters<Plugin["setup"]>[0], unknown>
    >);
    const { watchDirs } = await loads[0]!({ path: listId("./deep/*/*.ts", join(folder, "main.ts")) });
    expect(watchDirs).toEqual([join(folder, "deep"), join(folder, "deep/x")]);
  });

  it.each([
    ["beside the output", "dist", ["tools"], []],
    ["around the output", "tools/dist", [], [/tools is not watched for new tools, because the build writes to .*dist/]],
  ])("gives rollup the folder %s", async (_, output, watched, warned) => {
    const folder = root();
    const [files, warnings]: string[][] = [[], []];
    const context = {
      meta: { watchMode: true },
      addWatchFile: (path: string) => void files!.push(path),
      warn: (message: string) => void warnings!.push(message),
    };
    const plugin = forRollup();
    plugin.options({ output: [{ file: join(folder, output, "main.js") }] });
    await plugin.load.call(context, listId("./tools/*.ts", join(folder, "main.ts")));
    expect(files).toEqual(watched.map((each) => join(folder, each)));
    expect(warnings).toEqual(warned.map((each) => expect.stringMatching(each)));
  });
});
