import { mkdir, readFile } from "node:fs/promises";
import { basename, join, relative, resolve } from "node:path";
import { type CommandIo, type CommandOptions, type CommandResult, Unusable, visible } from "../io.ts";
import { type Fault, faultLine, idOf, isolateOf, type LoadedTool, loadTools } from "../tools/load-tools.ts";
import { toolFiles } from "../tools/tool-files.ts";
import { type Round, watchRounds } from "../watch.ts";
import { writeWhole } from "../whole-file.ts";

/** Packs tools, each to a file of JSON. */
export async function pack(
  typed: readonly string[],
  { out, watch, json }: CommandOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const to = resolve(io.folder, String(out));
  if (watch === true && json === true) throw new Unusable("--watch prints a line for each change and takes no --json.");
  if (watch === true) {
    await watchRounds(() => packRound(typed, to, io), io);
    return { exitCode: 0, output: "" };
  }
  const { tools, faults } = await packOnce(await filesOf(typed, io), to, io);
  const exitCode = faults.length > 0 ? 1 : 0;
  if (json === true) return { exitCode, output: `${JSON.stringify(reportOf(tools, faults), undefined, 2)}\n` };
  return { exitCode, output: [...tools.map(toolLines), ...faults.map(faultLine)].map((line) => `${line}\n`).join("") };
}

/** A tool that cannot be packed keeps its last package. */
async function packRound(typed: readonly string[], to: string, io: CommandIo): Promise<Round> {
  const paths = await filesOf(typed, io);
  const { tools, faults, folders } = await packOnce(paths, to, io);
  const lines = [
    ...tools.map((tool) => [tool.file, toolLines(tool)] as const),
    ...faults.map((fault) => [fault.file, faultLine(fault)] as const),
  ];
  return { folders, lines: new Map(lines) };
}

/** @throws {Unusable} for a path without a tool */
async function filesOf(typed: readonly string[], io: CommandIo): Promise<readonly string[]> {
  const found = await Promise.all(
    typed.map(async (each) => {
      const files = await toolFiles(each, io.folder, false);
      if (files.length === 0) throw new Unusable(`${visible(each)} holds no tool: a .ts, .js or .wasm file.`);
      return files;
    }),
  );
  return [...new Set(found.flat())];
}

interface WrittenTool extends LoadedTool {
  /** As shown to the person. */
  readonly out: string;
}

interface Packed {
  readonly tools: readonly WrittenTool[];
  readonly faults: readonly Fault[];
  readonly folders: ReadonlySet<string>;
}

async function packOnce(paths: readonly string[], to: string, io: CommandIo): Promise<Packed> {
  const { tools, faults, folders } = await loadTools(paths, io);
  const names = tools.map(({ file }) => `${basename(file).replace(/\.[^.]*$/, "")}.json`);
  const clash = names.find((name, at) => names.indexOf(name) < at);
  if (clash !== undefined) {
    const files = tools.filter((_, at) => names[at] === clash).map(({ file }) => visible(file));
    throw new Unusable(`${files.join(" and ")} would both go to ${clash}. Pack them into two folders.`);
  }
  await mkdir(to, { recursive: true });
  const written = tools.map(async (tool, at) => {
    const path = join(to, names[at]!);
    await writeChanged(path, `${JSON.stringify(tool.package)}\n`);
    return { ...tool, out: relative(io.folder, path) };
  });
  return { tools: await Promise.all(written), faults, folders };
}

/** Only where it changed: a bundler may be watching the file. */
async function writeChanged(path: string, text: string): Promise<void> {
  if ((await readFile(path, "utf8").catch(() => undefined)) !== text) await writeWhole(path, text);
}

function toolLines({ file, out, package: pkg }: WrittenTool): string {
  const lines = [
    `✓ ${idOf(pkg)}  ${file} → ${out}`,
    `  ${pkg.hash}`,
    `  ${pkg.code.length} characters, for ${isolateOf(pkg)}`,
  ];
  return lines.map(visible).join("\n");
}

function reportOf(tools: readonly WrittenTool[], faults: readonly Fault[]): object {
  return {
    tools: tools.map(({ file, out, package: { manifest, hash, code } }) => {
      const { name, version, source } = manifest;
      return { file, out, name, version, hash, source, codeLength: code.length };
    }),
    faults,
  };
}
