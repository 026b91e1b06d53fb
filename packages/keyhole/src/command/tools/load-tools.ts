import { checkPackage, isJsonObject, type ToolPackage, versionedId } from "@keyhole/kernel";
import { existsSync } from "node:fs";
import { basename, dirname, relative } from "node:path";
import { RootedPacker } from "../../node/packer.ts";
import { BundleError } from "../../pack/bundle.ts";
import type { Inputs } from "../../pack/inputs.ts";
import { readBoundedFile } from "@keyhole/worker-host/node/policy-text";
import { type CommandIo, textOf, visible } from "../io.ts";

export interface LoadedTool {
  /** As shown to the person: relative to the working directory. */
  readonly file: string;
  readonly package: ToolPackage;
}

export interface Fault {
  readonly file: string;
  readonly reason: string;
}

export interface LoadedTools {
  readonly tools: readonly LoadedTool[];
  readonly faults: readonly Fault[];
  /** Absolute paths: a change in one of them may make another package, or repair a file. */
  readonly folders: ReadonlySet<string>;
}

/** A person who waits longer hears what for. */
const QUIET_MS = 1_000;

/**
 * Packs files of tools, and reads packages. A file that cannot be packed does not stop the others. Two tools of one name and version are both refused: which one is meant
 * nobody could tell.
 *
 * @param paths absolute
 */
export async function loadTools(paths: readonly string[], io: CommandIo): Promise<LoadedTools> {
  const timer = setTimeout(() => io.note(`packing ${paths.length} files …\n`), QUIET_MS);
  const loaded: (LoadedTool | Fault)[] = [];
  const folders = new Set(paths.map((path) => dirname(path)));
  const watch = (inputs: Inputs): void => {
    for (const each of foldersOf(inputs)) folders.add(each);
  };
  try {
    const packer = new RootedPacker(io.folder, io.root);
    for (const path of paths) {
      io.signal.throwIfAborted();
      loaded.push(await loadTool(path, relative(io.folder, path), packer, watch));
    }
  } finally {
    clearTimeout(timer);
  }
  return { ...withoutDoubles(loaded), folders };
}

async function loadTool(
  path: string,
  file: string,
  packer: RootedPacker,
  watch: (inputs: Inputs) => void,
): Promise<LoadedTool | Fault> {
  try {
    if (!path.endsWith(".json")) {
      const { package: pkg, ...inputs } = await packer.pack(path);
      watch(inputs);
      return { file, package: pkg };
    }
    const bytes = readBoundedFile(path);
    if (!bytes) return { file, reason: "it is no file" };
    const pkg: unknown = JSON.parse(textOf(bytes));
    if (!isJsonObject(pkg) || !("manifest" in pkg))
      return { file, reason: "it is no tool package: it has no `manifest`" };
    const checked = checkPackage(pkg);
    if (!checked.ok) return { file, reason: `${checked.error.message} ${checked.error.hint}`.trimEnd() };
    return { file, package: pkg as unknown as ToolPackage };
  } catch (error) {
    if (error instanceof BundleError) watch(error);
    return { file, reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Without those of a package.json that is not there: the resolver looks for it in each folder up to the root. */
function foldersOf({ files, missing }: Inputs): readonly string[] {
  const absent = missing.filter((each) => basename(each) !== "package.json").map((each) => dirname(each));
  return [...files.map((each) => dirname(each)), ...absent.filter((each) => existsSync(each))];
}

function withoutDoubles(loaded: readonly (LoadedTool | Fault)[]): Omit<LoadedTools, "folders"> {
  const filesOf = new Map<string, string[]>();
  const tools = loaded.filter((each) => "package" in each);
  for (const { package: pkg, file } of tools) filesOf.set(idOf(pkg), [...(filesOf.get(idOf(pkg)) ?? []), file]);
  const isDouble = ({ package: pkg }: LoadedTool): boolean => filesOf.get(idOf(pkg))!.length > 1;
  const doubles = tools.filter(isDouble).map(({ package: pkg, file }) => {
    const others = filesOf.get(idOf(pkg))!.filter((each) => each !== file);
    return { file, reason: `${idOf(pkg)} is also in ${others.join(", ")}; change the name or the version` };
  });
  return {
    tools: tools.filter((tool) => !isDouble(tool)),
    faults: [...loaded.filter((each) => "reason" in each), ...doubles],
  };
}

export function idOf({ manifest }: ToolPackage): string {
  return versionedId(manifest);
}

export function isolateOf({ manifest: { source } }: ToolPackage): string {
  return source === "wasm" ? "a WebAssembly isolate" : "a JavaScript isolate";
}

export function faultLine({ file, reason }: Fault): string {
  const [first = "", ...more] = reason.split("\n").map(visible);
  return [`✗ ${visible(file)}: ${first}`, ...more.map((line) => `  ${line}`)].join("\n");
}
