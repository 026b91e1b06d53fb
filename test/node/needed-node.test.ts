import { execFile } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const old = `Object.defineProperty(process, "version", { value: "v20.20.2" });
Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } });`;

describe("on a Node that is too old", () => {
  it("the package says which one is needed", async () => {
    const { versions, version } = process;
    const pretend = (node: string, whole: string): void => {
      Object.defineProperty(process, "versions", { value: { ...versions, node }, configurable: true });
      Object.defineProperty(process, "version", { value: whole, configurable: true });
    };
    pretend("20.20.2", "v20.20.2");
    try {
      const message = "@keyhole/worker-host/node needs Node 24 or newer; got 20.20.2.";
      await expect(import("@keyhole/worker-host/node")).rejects.toThrow(message);
    } finally {
      pretend(versions.node, version);
    }
  });

  it("the command says so in one line", async () => {
    const program = [`--import=data:text/javascript,${encodeURIComponent(old)}`, "--conditions=keyhole-source"];
    const command = [...program, join(root, "packages/keyhole/src/cli.ts"), "--help"];
    await expect(promisify(execFile)(process.execPath, command)).rejects.toMatchObject({
      code: 2,
      stderr: "keyhole needs Node 22 or newer; got 20.20.2.\n",
    });
  });

  it("no package imports a module or a name that is not there, with which nothing of it would run", () => {
    const sources = globSync("packages/{agents,bus,edge,kernel,keyhole,mcp,worker-host}/src/**/*.ts", { cwd: root });
    const imports = sources.flatMap((path) => [
      ...readFileSync(join(root, path), "utf8").matchAll(/^(?:import|export) (?!type )([^;]*?)from "node:([^"]+)"/gm),
    ]);
    const imported = imports.map(([, , name]) => name!);
    const newer = /\b(globSync|registerHooks|stripTypeScriptTypes|enableCompileCache)\b/;
    expect(imports.filter(([, names]) => newer.test(names!)).map(([whole]) => whole)).toEqual([]);
    expect(imported.length).toBeGreaterThan(10);
    // Those that a Node has always had go without `node:` as well; newer ones do not.
    expect(imported.filter((name) => !isBuiltin(name))).toEqual([]);
  });
});
