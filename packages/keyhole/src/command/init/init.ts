import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { nearest } from "@keyhole/kernel";
import {
  type CommandIo,
  type CommandOptions,
  type CommandResult,
  counted,
  shellWord,
  Unusable,
  visible,
} from "../io.ts";
import { optionOf } from "../options.ts";
import { packageSpecs } from "../package-specs.ts";
import { removedAtExit } from "../whole-file.ts";

/** Beside `src` in the repository, and beside `dist` where the package is installed. */
const folders = join(dirname(fileURLToPath(import.meta.url)), "../../../templates");

/** Each template with the folders whose files it has too. */
const templates: ReadonlyMap<string, readonly string[]> = new Map([
  ["agent", ["any"]],
  ["mcp", ["any", "node"]],
  ["node", ["any"]],
  ["static-html", ["any", "packed"]],
  ["vite-react", ["any", "packed"]],
  ["worker", ["any", "packed"]],
]);

/** Writes a project: the files of a template, with the packages that this command came with. */
export async function init(
  template: string,
  typed: string,
  options: CommandOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const files = await filesOf(template);
  const folder = resolve(io.folder, typed);
  await refuseFull(folder, typed);
  const specs = await packageSpecs(optionOf(options, "packages"), io.folder);
  const tarballs = tarballsOf(specs);
  await withDraft(folder, async (draft) => {
    for (const [path, from] of files) {
      io.signal.throwIfAborted();
      const text = await readFile(from, "utf8");
      const to = join(draft, writtenName(path));
      await mkdir(dirname(to), { recursive: true });
      await writeFile(to, path === "package.json" ? projectManifest(text, basename(folder), specs) : text);
    }
    if (tarballs !== undefined) await writeFile(join(draft, pnpmFile), pnpmText(tarballs));
  });
  const written = [...[...files.keys()].map(writtenName), ...(tarballs === undefined ? [] : [pnpmFile])].sort();
  if (options["json"] === true)
    return { exitCode: 0, output: `${JSON.stringify({ folder, files: written }, undefined, 2)}\n` };
  const lines = [
    `${counted(written.length, "file")} written to ${visible(typed)}. Next:`,
    `  cd ${shellWord(typed)}`,
    "  npm install",
    "  npm test",
  ];
  return { exitCode: 0, output: lines.map((line) => `${line}\n`).join("") };
}

/** Fills a folder whole or not at all: `init` refuses one that an interrupt left half full. */
async function withDraft(folder: string, fill: (draft: string) => Promise<void>): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  const draft = await mkdtemp(join(dirname(folder), `.${basename(folder)}-`));
  const forget = removedAtExit(draft);
  try {
    await fill(draft);
    await mkdir(folder, { recursive: true });
    for (const name of await readdir(draft)) await rename(join(draft, name), join(folder, name));
  } finally {
    await rm(draft, { recursive: true, force: true });
    forget();
  }
}

/** The files of a template by their paths in the project. Its own stand before shared ones. */
async function filesOf(name: string): Promise<ReadonlyMap<string, string>> {
  const shared = templates.get(name);
  if (!shared) {
    const known = [...templates.keys()];
    const [close] = nearest(name, known);
    const hint = close === undefined ? "" : ` Did you mean ${close}?`;
    throw new Unusable(visible(`There is no template ${name}; expected ${known.join(", ")}.${hint}`));
  }
  const files = new Map<string, string>();
  for (const folder of [...shared, name].map((each) => join(folders, each)))
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isFile()) files.set(relative(folder, path), path);
    }
  return files;
}

/** A folder with files is a person's work. A repository that was just made is not. */
async function refuseFull(folder: string, typed: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined);
  if (found === undefined) return;
  if (!found.isDirectory()) throw new Unusable(`${visible(typed)} is a file; expected a folder.`);
  const [file] = (await readdir(folder)).filter((name) => name !== ".git");
  if (file !== undefined)
    throw new Unusable(`${visible(typed)} is not empty: it has ${visible(file)}. Name another folder.`);
}

/** npm leaves `.gitignore` out of packages. */
function writtenName(path: string): string {
  return path.replaceAll("\\", "/").replace(/(^|\/)_gitignore$/, "$1.gitignore");
}

/**
 * The specifiers of tarballs. One tarball names another by its version. npm takes the tarball that the project names; yarn and bun need `resolutions` for that, and pnpm
 * `overrides` in a file of its own.
 */
function tarballsOf(specs: ReadonlyMap<string, string>): Readonly<Record<string, string>> | undefined {
  const tarballs = [...specs].filter(([, spec]) => spec.startsWith("file:"));
  return tarballs.length === 0 ? undefined : Object.fromEntries(tarballs);
}

const pnpmFile = "pnpm-workspace.yaml";

/** YAML holds JSON. pnpm fails where nobody says whether esbuild's script runs; it need not. */
function pnpmText(overrides: Readonly<Record<string, string>>): string {
  return `${JSON.stringify({ overrides, allowBuilds: { esbuild: false } }, undefined, 2)}\n`;
}

function projectManifest(text: string, folder: string, specs: ReadonlyMap<string, string>): string {
  const manifest = JSON.parse(text) as Record<string, Record<string, string>>;
  const withSpecs = (dependencies: Record<string, string>): Record<string, string> =>
    Object.fromEntries(Object.entries(dependencies).map(([name, version]) => [name, specs.get(name) ?? version]));
  const name =
    folder
      .toLowerCase()
      .replaceAll(/[^a-z0-9-]+/g, "-")
      .replaceAll(/^-+|-+$/g, "") || "keyhole-project";
  const resolutions = tarballsOf(specs);
  const project: Record<string, unknown> = { ...manifest, name, ...(resolutions && { resolutions }) };
  for (const kind of ["dependencies", "devDependencies"])
    if (manifest[kind] !== undefined) project[kind] = withSpecs(manifest[kind]);
  return `${JSON.stringify(project, undefined, 2)}\n`;
}
