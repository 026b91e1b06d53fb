import { resolve } from "node:path";
import { nearest, type ToolPackage, versionedId } from "@keyhole/kernel";
import type { ConfigFile } from "@keyhole/worker-host/node/config";
import { type CommandIo, type CommandOptions, Unusable, visible } from "./io.ts";
import { optionOf } from "./options.ts";
import { openTools } from "./tools/find-tool.ts";
import { faultLine, type LoadedTools } from "./tools/load-tools.ts";

declare const chosen: unique symbol;

/** The configuration that holds, if there is one. Only {@link chooseConfig} makes it. A policy is read with it, so a command without the limits does not compile. */
export interface ChosenConfig {
  readonly found: ConfigFile | undefined;
  readonly [chosen]: true;
}

/**
 * The configuration that a person named, else the one of the working directory.
 *
 * @throws {Unusable} with the line
 */
export async function chooseConfig(options: CommandOptions, io: CommandIo): Promise<ChosenConfig> {
  return { found: await read(options, io) } as ChosenConfig;
}

/** @throws {Unusable} with the line */
async function read(options: CommandOptions, io: CommandIo): Promise<ConfigFile | undefined> {
  const { findConfig, loadConfig } = await import("@keyhole/worker-host/node/config");
  const name = optionOf(options, "config") ?? (await findConfig(io.folder).catch(unusable));
  if (name === undefined) return undefined;
  const loaded = await loadConfig(name, io.folder);
  if (!loaded.ok) throw new Unusable(visible(loaded.message));
  return loaded.value;
}

function unusable(error: unknown): never {
  throw new Unusable(error instanceof Error ? visible(error.message) : "The configuration is unreadable.");
}

/** The tools of the section `tools`, packed. */
export async function configuredTools({ config, folder }: ConfigFile, io: CommandIo): Promise<LoadedTools> {
  const paths = config.document.tools ?? [];
  return openTools(
    paths.map((path) => resolve(folder, path)),
    io,
  );
}

export interface ConfiguredTool {
  readonly name: string;
  /** `undefined` for a tool of the bus, which says its version when it is there. */
  readonly version: string | undefined;
  /** All of the section `tools`. The kernel registers the others by itself. */
  readonly packages: readonly ToolPackage[];
}

/**
 * A tool of a configuration, by its name or id.
 *
 * @throws {Unusable} for a name that it does not have
 */
export async function findConfigured(typed: string, file: ConfigFile, io: CommandIo): Promise<ConfiguredTool> {
  const { busTools } = await import("@keyhole/worker-host/config");
  const { tools, faults } = await configuredTools(file, io);
  for (const each of faults) io.note(`${faultLine(each)}\n`);
  const packages = tools.map((tool) => tool.package);
  const { config } = file;
  const known = [
    ...[...packages, ...config.packages].map(({ manifest }) => manifest),
    ...config.pipelines.map(({ definition }) => definition),
  ];
  const found = known.find((each) => each.name === typed || versionedId(each) === typed);
  if (found) return { name: found.name, version: found.version, packages };
  const bussed = [...busTools(config.document.bus).keys()];
  if (bussed.includes(typed)) return { name: typed, version: undefined, packages };
  const names = [...known.map(({ name }) => name), ...bussed];
  const [close] = nearest(typed, names);
  const hint = close === undefined ? `It has ${names.join(", ") || "none"}.` : `Did you mean ${close}?`;
  throw new Unusable(visible(`${file.file} has no tool ${typed}. ${hint}`));
}
