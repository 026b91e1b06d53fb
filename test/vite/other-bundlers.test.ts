import * as esbuild from "esbuild";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { hasInvisible } from "@keyhole/kernel";
import { packTool } from "keyhole";
import { keyhole as forEsbuild } from "keyhole/esbuild";
import { keyhole as forRollup } from "keyhole/rollup";
import { build, type Rolldown } from "vite";
import { afterAll, describe, expect, it } from "vitest";
import { buildMain, program, removePrograms, toolText } from "./program.ts";

/* webpack and rollup themselves: test/peers/bundlers. Vite runs the plugin of rollup here. */

afterAll(removePrograms);

async function byEsbuild(root: string): Promise<string> {
  const options = { bundle: true, format: "esm", write: false, logLevel: "silent" } as const;
  const entryPoints = [join(root, "main.ts")];
  const { outputFiles } = await esbuild.build({ ...options, entryPoints, plugins: [forEsbuild()] });
  return outputFiles[0]!.text;
}

async function byRollup(root: string): Promise<string> {
  const built = await build({
    root,
    configFile: false,
    logLevel: "silent",
    plugins: [forRollup()],
    build: { write: false, minify: false, lib: { entry: "main.ts", formats: ["es"] } },
  });
  return (built as Rolldown.RolldownOutput[])[0]!.output[0].code;
}

/** A file of this machine, from a folder that is nowhere near it. */
const steals = {
  "steals.ts": `import stolen from ${JSON.stringify(fileURLToPath(new URL("../../package.json", import.meta.url)))};\nexport default stolen;\n`,
};

describe.each([
  ["esbuild", byEsbuild],
  ["rollup", byRollup],
])("the plugin for %s", (_, bundle) => {
  it("gives a tool the hash that packTool gives, and shows the bundler no source of it", async () => {
    const root = program({
      "main.ts": 'import tool from "keyhole:./tools/echo.ts";\nexport default tool;\n',
      "tools/echo.ts": `/* a comment of the source */\n${toolText("echo")}`,
    });
    const { package: pkg } = await packTool(join(root, "tools/echo.ts"));
    const text = await bundle(root);
    expect(text).toContain(pkg.hash);
    expect(text).not.toContain("a comment of the source");
    expect(text).not.toContain("defineTool");
  });

  it("gives lists, scripts, modules and bytes", async () => {
    const root = program({
      "main.ts": `import all from "keyhole:./tools/*.ts?all";
import script from "keyhole:./script.ts?iife";
import module from "keyhole:./script.ts?esm";
import bytes from "keyhole:./bytes.bin?bytes";
export default [all, script, module, bytes];
`,
      "tools/a.ts": toolText("first"),
      "tools/b.ts": toolText("second"),
      "script.ts": "globalThis.said = 40 + 2;",
      "bytes.bin": new Uint8Array([1, 2, 3]),
    });
    const text = await bundle(root);
    expect(text).toContain("globalThis.said=42");
    expect(text).toContain(btoa("\u0001\u0002\u0003"));
    expect([...text.matchAll(/\\?"name\\?":\\?"(first|second)\\?"/g)].map(([, name]) => name)).toEqual([
      "first",
      "second",
    ]);
  });

  it.each([
    ['import tool from "./tool.ts?tool"; export default tool;', /Got the import ".*"; expected "keyhole:.*tool\.ts"/],
    ['import tool from "./tool.ts?keyhole-tool"; export default tool;', /expected "keyhole:.*tool\.ts"/],
    ['import tool from "./tool.ts?Tool"; export default tool;', /expected "keyhole:.*tool\.ts"/],
    ['import tool from "./tool.ts?keyhole-tool&x"; export default tool;', /expected "keyhole:.*tool\.ts"/],
    ['import tool from "./tool.ts?Keyhole-Tool#x"; export default tool;', /expected "keyhole:.*tool\.ts"/],
    ['import tool from "Keyhole:./tool.ts"; export default tool;', /expected "keyhole:"/],
    ['import tool from " keyhole:./tool.ts"; export default tool;', /expected "keyhole:"/],
    [
      'import secret from "keyhole:./steals.ts"; export default secret;',
      /package\.json" \(imported by steals\.ts\) is a file outside of its package/,
    ],
    [
      'import tool from "keyhole:./gone.ts"; export default tool;',
      /"\.\/gone\.ts" cannot be found under the root \(imported by main\.ts\)/,
    ],
    [
      'import tool from "keyhole:./broken.ts"; export default tool;',
      /broken\.ts cannot be imported: .*\(broken\.ts:1:17\)/,
    ],
    ['import tool from "keyhole:./tool.ts?metered"; export default tool;', /only keyhole\/vite meters modules/],
    [
      'import tool from "keyhole:./tool.ts?tools"; export default tool;',
      /has the query \?tools; expected none or one of/,
    ],
  ])("fails the build: %s", async (text, reason) => {
    const root = program({ "main.ts": text, "tool.ts": toolText("evil"), "broken.ts": "export default {", ...steals });
    await expect(bundle(root)).rejects.toThrow(reason);
  });
});

it.each([
  ["esbuild", byEsbuild],
  ["rollup", byRollup],
  ["Vite", buildMain],
])("the plugin for %s gives the bytes of a file, with a loader for its ending too", async (_, bundle) => {
  const names = ["a.json", "b.css", "c.html", "d.cjs", "e.wasm", "f.module.css"];
  const imports = names.map((name, i) => `import b${i} from "keyhole:./${name}?bytes";`);
  const root = program({
    "main.ts": `${imports.join("\n")}\nexport default [${names.map((_, i) => `b${i}`).join()}];`,
    ...Object.fromEntries(names.map((name) => [name, `of ${name}`])),
  });
  const text = await bundle(root);
  for (const name of names) expect(text).toContain(btoa(`of ${name}`));
});

it.each([
  ["packTool", async (root: string) => packTool(join(root, "tool.ts"))],
  ["esbuild", byEsbuild],
  ["rollup", byRollup],
])("a tool that fails steers no terminal through %s", async (_, bundle) => {
  const hostile = "\u001b[2J✓ pay packed\u202e\u009b";
  const root = program({
    "main.ts": 'import tool from "keyhole:./tool.ts"; export default tool;',
    "tool.ts": `throw new Error(${JSON.stringify(hostile)});`,
  });
  const failure: unknown = await bundle(root).catch((error: unknown) => error);
  // Without the bundler's own colours.
  const printed = inspect(failure, { depth: 9 }).replaceAll(/\u001b\[[\d;]*m/g, "");
  expect(printed).toContain("✓ pay packed");
  expect(hasInvisible(printed.replaceAll("\0", ""))).toBe(false);
});

it("the plugin for esbuild packs a changed tool again while it watches", async () => {
  const root = program({
    "main.ts": 'import tool from "keyhole:./echo.ts";\nexport default tool;\n',
    "echo.ts": toolText("before"),
  });
  const plugins = [forEsbuild()];
  const entryPoints = [join(root, "main.ts")];
  const context = await esbuild.context({ bundle: true, format: "esm", write: false, plugins, entryPoints });
  try {
    expect((await context.rebuild()).outputFiles[0]!.text).toContain("before");
    const { writeFile } = await import("node:fs/promises");
    await writeFile(join(root, "echo.ts"), toolText("after"));
    expect((await context.rebuild()).outputFiles[0]!.text).toContain("after");
  } finally {
    await context.dispose();
  }
});
