import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { nearest, type ToolPackage } from "@keyhole/kernel";
import { type CommandIo, Unusable, visible } from "../io.ts";
import { faultLine, idOf, type LoadedTools, loadTools } from "./load-tools.ts";
import { toolFiles } from "./tool-files.ts";

/** The folder of tools by name. */
export const defaultFolder = "tools";

/**
 * The tools of paths that a person typed. The list notes a tool that cannot be packed.
 *
 * @throws {Unusable} for a path that does not exist
 */
export async function openTools(typed: readonly string[], io: CommandIo): Promise<LoadedTools> {
  const paths = await Promise.all(typed.map((each) => toolFiles(each, io.folder, true)));
  return loadTools([...new Set(paths.flat())], io);
}

export interface FoundTool {
  readonly package: ToolPackage;
  /** The tool, and those that it may call. */
  readonly packages: readonly ToolPackage[];
}

/**
 * One tool: a file, or the name of a tool in `folder`, `echo` or `echo@1.0.0`.
 *
 * @throws {Unusable}
 */
export async function findTool(typed: string, folder: string | undefined, io: CommandIo): Promise<FoundTool> {
  const isFile = (await stat(resolve(io.folder, typed)).catch(() => undefined))?.isFile() === true;
  const isPath = isFile || /[/\\]|\.(?:[mc]?[jt]s|wasm|json)$/.test(typed);
  const own = isPath ? await openTools([typed], io) : undefined;
  const [fault] = own?.faults ?? [];
  if (fault) throw new Unusable(faultLine(fault));
  const around = isPath && folder === undefined ? undefined : await openTools([folder ?? defaultFolder], io);
  for (const each of around?.faults ?? []) io.note(`${faultLine(each)}\n`);
  const others = (around?.tools ?? []).map((tool) => tool.package);
  const [tool] = own?.tools ?? [];
  if (tool)
    return {
      package: tool.package,
      packages: [tool.package, ...others.filter((each) => idOf(each) !== idOf(tool.package))],
    };
  const named = others.filter((each) => each.manifest.name === typed || idOf(each) === typed);
  const [found, ...more] = named;
  if (found === undefined) throw new Unusable(unknown(typed, folder ?? defaultFolder, others));
  if (more.length > 0)
    throw new Unusable(`${typed} has several versions: ${named.map(idOf).join(", ")}. Name one of them.`);
  return { package: found, packages: others };
}

function unknown(typed: string, folder: string, packages: readonly ToolPackage[]): string {
  const names = packages.map(({ manifest }) => manifest.name);
  const [close] = nearest(typed, names);
  const hint = close === undefined ? ` It holds ${names.join(", ") || "no tool"}.` : ` Did you mean ${close}?`;
  return visible(`${folder} has no tool ${typed}.${hint}`);
}
