import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Row, runtimeRows } from "../../runtimes/table.ts";
import { asJavaScript, packedApp, removePackedApps } from "../../support/packed-app.ts";
import { root } from "../../support/sources.ts";

const run = promisify(execFile);

/** Without their ending: a new file of probes takes part. */
const probeFiles = globSync("*probes.ts", { cwd: `${root}test/runtimes` }).map((path) => basename(path, ".ts"));

/** Makes every probe, each after the other, and prints the message of each that failed. */
const main = `${probeFiles.map((name, at) => `import * as m${at} from "./${name}.js";`).join("\n")}

const modules = [${probeFiles.map((_, at) => `m${at}`).join(", ")}];
const tables = modules.flatMap((each) => Object.entries(each)).filter(([name]) => name.endsWith("Probes"));
const edge = { "@keyhole/edge": () => import("@keyhole/edge") };
const said = {};
for (const [name, probe] of tables.flatMap(([, probes]) => Object.entries(probes)).concat(Object.entries(edge)))
  said[name] = await probe().then(() => "runs", (error) => error.message);
process.stdout.write(JSON.stringify(said), () => process.exit());
`;

/** A program that Vite builds: the packed plugin bundles a tool that imports the packed kernel. */
const pack = `import { build } from "vite";
import { keyhole } from "keyhole/vite";
const lib = { entry: "tools.js", formats: ["es"] };
await build({ configFile: false, logLevel: "silent", plugins: [keyhole()], build: { lib, outDir: "out" } });
const { default: packed } = await import("./out/" + (await import("node:fs")).readdirSync("out").find((name) => name.endsWith(".js")));
process.stdout.write(packed.manifest.name, () => process.exit());
`;

const tool = `import { defineTool } from "@keyhole/kernel/tool";
export default defineTool({
  name: "packed", version: "1.0.0", description: "Under test.",
  input: { type: "object" }, output: { kind: "text" }, execute: () => "here",
});
`;

let app: string;
beforeAll(() => {
  const probes = probeFiles.map((name) => [`${name}.js`, asJavaScript(`test/runtimes/${name}.ts`)]);
  app = packedApp({
    ...(Object.fromEntries(probes) as Record<string, string>),
    "main.js": main,
    "pack.js": pack,
    "tools.js": 'export { default } from "keyhole:./packed.ts";\n',
    "packed.ts": tool,
  });
});
afterAll(removePackedApps);

/** With a Node of the packages of this peer; 24 is the one that runs the tests. */
function nodeOf(major: number): string {
  if (major === 24) return process.execPath;
  return join(import.meta.dirname, `node_modules/node-${major}-${process.arch}/bin/node`);
}

async function start(major: number, ...args: readonly string[]): Promise<string> {
  const { stdout } = await run(nodeOf(major), ["--disable-warning=ExperimentalWarning", ...args], { cwd: app });
  return stdout;
}

/** What docs/runtimes.md promises of an export on one Node. */
function promised({ specifier, node }: Row, major: number, version: string): unknown {
  if (specifier === "@keyhole/edge") return "@keyhole/edge runs on Cloudflare Workers; Node cannot import it.";
  if (node === undefined && major >= 22)
    return expect.not.stringMatching(/^runs$|is not a function|Cannot read/) as string;
  if (node !== undefined && major >= node) return "runs";
  // What an export imports can be the first to say it.
  const said = `(@keyhole/[a-z/-]+|keyhole) needs Node ${major >= 22 ? "24" : "2[24]"}`;
  return expect.stringMatching(`^${said} or newer; got ${version.replaceAll(".", "\\.")}\\.$`) as string;
}

describe.each([20, 22, 24])("on Node %d", (major) => {
  let version: string;
  beforeAll(async () => {
    version = await start(major, "-p", "process.versions.node");
    version = version.trim();
  });

  it("each export runs, or says which Node it needs", async () => {
    expect(version).toMatch(new RegExp(`^${major}\\.`));
    // Parts of a Worker of one's own load anywhere, and do nothing alone.
    const rows = runtimeRows().filter(({ specifier }) => !/^@keyhole\/edge\/(bus|mcp)$/.test(specifier));
    const said: unknown = JSON.parse(await start(major, "main.js"));
    expect(said).toEqual(Object.fromEntries(rows.map((row) => [row.specifier, promised(row, major, version)])));
  });

  it("the command runs, or says which Node it needs in one line", async () => {
    const command = start(major, "node_modules/keyhole/dist/cli.js", "--help");
    if (major >= 22) expect(await command).toContain("Usage: keyhole");
    else
      await expect(command).rejects.toMatchObject({
        code: 2,
        stderr: `keyhole needs Node 22 or newer; got ${version}.\n`,
      });
  });

  it("the plugin packs a tool, or says which Node it needs", async () => {
    if (major >= 22) expect(await start(major, "pack.js")).toBe("packed");
    else await expect(start(major, "pack.js")).rejects.toThrow(`needs Node 22 or newer; got ${version}.`);
  });
});
