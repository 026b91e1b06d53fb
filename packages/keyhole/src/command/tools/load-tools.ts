import { versionedId, checkPackage, type ToolPackage } from "@keyhole/kernel";
import { relative } from "node:path";
import { packTool } from "../../node/packer.ts";
import { readBoundedFile } from "@keyhole/worker-host/node/policy-text";
import { type CommandIo, isObject, textOf, visible } from "../io.ts";

export interface LoadedTool {
  /** As shown to the person: relative to the working directory. */
  readonly file: string;
  readonly package: ToolPackage;
  /** Absolute paths of every file that a change may touch. */
  readonly files: readonly string[];
}

export interface Fault {
  readonly file: string;
  readonly reason: string;
}

export interface LoadedTools {
  readonly tools: readonly LoadedTool[];
  readonly faults: readonly Fault[];
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
  try {
    for (const path of paths) {
      io.signal.throwIfAborted();
      loaded.push(await loadTool(path, relative(io.folder, path)));
    }
  } finally {
    clearTimeout(timer);
  }
  return withoutDoubles(loaded);
}

async function loadTool(path: string, file: string): Promise<LoadedTool | Fault> {
  try {
    if (!path.endsWith(".json")) return { file, ...(await packTool(path)) };
    const bytes = readBoundedFile(path);
    if (!bytes) return { file, reason: "it is no file" };
    const pkg: unknown = JSON.parse(textOf(bytes));
    if (!isObject(pkg) || !("manifest" in pkg)) return { file, reason: "it is no tool package: it has no `manifest`" };
    const checked = checkPackage(pkg);
    if (!checked.ok) return { file, reason: `${checked.error.message} ${checked.error.hint}`.trimEnd() };
    return { file, package: pkg as unknown as ToolPackage, files: [path] };
  } catch (error) {
    return { file, reason: error instanceof Error ? error.message : String(error) };
  }
}

function withoutDoubles(loaded: readonly (LoadedTool | Fault)[]): LoadedTools {
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
