import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { type CommandResult, runCommand } from "../../packages/keyhole/src/command/run-command.ts";
import { ioIn } from "../support/command-files.ts";

const root = mkdtempSync(join(tmpdir(), "keyhole-large-"));
afterAll(() => rmSync(root, { recursive: true }));

/** 300 MB that take no room on the disk. */
function large(name: string): string {
  writeFileSync(join(root, name), "{");
  truncateSync(join(root, name), 300_000_000);
  return name;
}

const told = async (words: readonly string[]): Promise<CommandResult & { readonly notes: string }> => {
  const io = ioIn(root);
  const result = await runCommand(words, io);
  return { ...result, notes: io.notes.join("") };
};

it.each<[string, (file: string) => readonly string[], string]>([
  ["list of a source", (file) => ["list", file], "source.ts"],
  ["list of a log", (file) => ["list", file], "log.jsonl"],
  ["list of a package", (file) => ["list", file], "tool.json"],
  ["list of a module", (file) => ["list", file], "tool.wasm"],
  ["run", (file) => ["run", file, "--input", "{}"], "run.ts"],
  ["run of a log", (file) => ["run", file, "--input", "{}"], "run.jsonl"],
  ["pack", (file) => ["pack", file], "pack.ts"],
  ["policy check", (file) => ["policy", "check", file], "policy.json"],
  ["run with a policy", (file) => ["run", "source.ts", "--input", "{}", "--policy", file], "given.json"],
  ["run with a configuration", (file) => ["run", "source.ts", "--input", "{}", "--config", file], "keyhole.yaml"],
])("keyhole %s refuses a file of 300 MB before it is in memory", async (_, words, name) => {
  const { exitCode, output, errorOutput = "", notes } = await told(words(large(name)));
  expect(exitCode).toBeGreaterThan(0);
  expect(output + errorOutput + notes).toMatch(/larger than [\d,]+ bytes/);
});

it("keyhole list refuses what is no file", async () => {
  const folder = mkdtempSync(join(root, "tools-"));
  symlinkSync("/dev/zero", join(folder, "zeros.json"));
  symlinkSync("/dev/zero", join(folder, "zeros.ts"));
  const { exitCode } = await told(["list", folder]);
  expect(exitCode).toBe(1);
});
