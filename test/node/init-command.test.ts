import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { parse } from "yaml";
import { afterAll, describe, expect, it } from "vitest";
import { installLine } from "../../packages/keyhole/src/command/package-specs.ts";
import { runCommand } from "../../packages/keyhole/src/command/run-command.ts";
import { ioIn } from "../support/command-files.ts";
import { root } from "../support/sources.ts";
import { program, removePrograms } from "../vite/program.ts";

const exec = promisify(execFile);
const run = (folder: string, ...words: readonly string[]) => runCommand(words, ioIn(folder));
afterAll(removePrograms);

describe("keyhole init", () => {
  it("writes a project of the template's files, named after its folder", async () => {
    const folder = program({});
    const { exitCode, output } = await run(folder, "init", "node", "My Notes");
    expect(exitCode).toBe(0);
    expect(output).toMatch(
      /^\d+ files written to My Notes\. Next:\n {2}cd "My Notes"\n {2}npm install\n {2}npm test\n$/,
    );
    const manifest = JSON.parse(readFileSync(join(folder, "My Notes/package.json"), "utf8")) as object;
    expect(manifest).not.toHaveProperty("resolutions");
    expect(existsSync(join(folder, "My Notes/pnpm-workspace.yaml"))).toBe(false);
    expect(manifest).toMatchObject({ name: "my-notes", dependencies: { "@keyhole/kernel": "0.0.0" } });
    expect(readFileSync(join(folder, "My Notes/.gitignore"), "utf8")).toContain("node_modules/");
  });

  it("names the tarballs that it is given, and asks no registry for them", async () => {
    const folder = program({
      "packed/keyhole-kernel-0.0.0.tgz": "",
      "packed/keyhole-worker-host-0.0.0.tgz": "",
      "packed/keyhole-agents-0.0.0.tgz": "",
      "packed/keyhole-bus-0.0.0.tgz": "",
      "packed/keyhole-mcp-0.0.0.tgz": "",
      "packed/keyhole-edge-0.0.0.tgz": "",
      "packed/keyhole-0.0.0.tgz": "",
    });
    expect((await run(folder, "init", "node", "app", "--packages", "packed")).output).toMatch(/^11 files written/);
    expect(JSON.parse(readFileSync(join(folder, "app/package.json"), "utf8"))).toMatchObject({
      dependencies: { "@keyhole/kernel": `file:${join(folder, "packed/keyhole-kernel-0.0.0.tgz")}` },
      devDependencies: { keyhole: `file:${join(folder, "packed/keyhole-0.0.0.tgz")}` },
    });
    // A tarball names another by its version: without these pnpm, yarn and bun ask the registry for it.
    const names = ["kernel", "worker-host", "agents", "bus", "mcp", "edge"].map((name) => `@keyhole/${name}`);
    const specs = Object.fromEntries(
      [...names, "keyhole"].map((name) => {
        const file = `${name.replace("@keyhole/", "keyhole-")}-0.0.0.tgz`;
        return [name, `file:${join(folder, "packed", file)}`];
      }),
    );
    const written = (name: string): unknown => parse(readFileSync(join(folder, "app", name), "utf8"));
    expect(written("package.json")).toMatchObject({ resolutions: specs });
    expect(written("pnpm-workspace.yaml")).toEqual({ overrides: specs, allowBuilds: { esbuild: false } });
    expect((await run(folder, "init", "node", "b", "--packages", "none")).errorOutput).toBe(
      "none is unreadable; expected a folder of tarballs.\n",
    );
    mkdirSync(join(folder, "empty"));
    expect((await run(folder, "init", "node", "b", "--packages", "empty")).errorOutput).toBe(
      "empty has no keyhole-kernel-0.0.0.tgz.\n",
    );
  });

  it("names the tarballs beside its own for packages to add, else its own version", async () => {
    const lock = { packages: { "node_modules/keyhole": { resolved: "file:../my packed/keyhole-0.0.0.tgz" } } };
    const folder = program({
      "my packed/keyhole-0.0.0.tgz": "",
      "my packed/keyhole-edge-0.0.0.tgz": "",
      "app/node_modules/.package-lock.json": JSON.stringify(lock),
    });
    const own = join(folder, "app/node_modules/keyhole/dist/cli.js");
    expect(await installLine(["@keyhole/edge", "@keyhole/mcp", "wrangler"], own)).toBe(
      `npm install --save-dev "file:${folder}/my packed/keyhole-edge-0.0.0.tgz" @keyhole/mcp@0.0.0 wrangler`,
    );
    expect(await installLine(["@keyhole/mcp"])).toBe("npm install --save-dev @keyhole/mcp@0.0.0");
  });

  it("writes into no folder that has files, and no template that does not exist", async () => {
    const folder = program({ "full/mine.txt": "", file: "" });
    expect(await run(folder, "init", "node", "full")).toEqual({
      exitCode: 2,
      output: "",
      errorOutput: "full is not empty: it has mine.txt. Name another folder.\n",
    });
    expect((await run(folder, "init", "node", "file")).errorOutput).toBe("file is a file; expected a folder.\n");
    expect((await run(folder, "init", "nod")).errorOutput).toMatch(
      /^There is no template nod; expected .*\. Did you mean node\?\n$/,
    );
    mkdirSync(join(folder, "fresh/.git"), { recursive: true });
    expect((await run(folder, "init", "node", "fresh")).exitCode).toBe(0);
  });
});

describe("the template node", () => {
  it("passes its own tests", async () => {
    const folder = program({});
    await run(folder, "init", "node", "app");
    const app = join(folder, "app");
    symlinkSync(join(root, "node_modules"), join(app, "node_modules"));
    expect((await run(app, "pack", "tools")).exitCode).toBe(0);
    expect((await run(app, "policy", "check", "policy.json")).exitCode).toBe(0);
    // In one process: loading the sources takes most of the time.
    const words = [`--import=${root}scripts/source.mjs`, "--test", "--test-isolation=none"];
    expect((await exec(process.execPath, words, { cwd: app })).stdout).toMatch(/pass 3$/m);
  });
});
