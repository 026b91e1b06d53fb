import { knownOptions, plainMembers } from "@keyhole/kernel/foreign";
import { resolve } from "node:path";
import {
  createKernel,
  type KernelOptions,
  type IsolateHost,
  type Kernel,
  pointerOf,
  type PolicyDocument,
  type ToolPackage,
} from "@keyhole/kernel";
import { secretKeeper, type SecretStore } from "@keyhole/kernel/secrets";
import { busTools } from "../../config/sections/bus.ts";
import { unknownStep } from "../../config/read.ts";
import type { BrokersEntry, SecretsEntry } from "../../config/sections/kernel.ts";
import { type FileSink, fileSink } from "../file-sink.ts";
import { nodeHost, type NodeHostOptions } from "../host.ts";
import { joinConfiguredBus } from "./bus.ts";
import type { ConfigFile } from "./load.ts";

export interface ConfiguredKernel {
  readonly kernel: Kernel;
  /** Leaves the bus, closes the kernel, and then its log. */
  close(): Promise<void>;
}

/** Options that replace those of the configuration. Absolute paths. */
export interface InPlaceOf {
  readonly files?: string | undefined;
  /** The file of the log. */
  readonly log?: string | undefined;
  /** The limits of the configuration hold over it. */
  readonly policy?: unknown;
}

export type ConfiguredOptions = KernelOptions & { readonly host: IsolateHost; readonly sink?: FileSink };

/** Options of a kernel, with the sink that its owner closes behind it. @throws TypeError as {@link limitedPolicy} */
export function configuredOptions(configFile: ConfigFile, inPlaceOf: InPlaceOf = {}): ConfiguredOptions {
  const names = { files: true, log: true, policy: true } as const;
  const { files, log, policy } = knownOptions(inPlaceOf, names, "configuredOptions");
  const { config, folder } = configFile;
  const { sink, modeTriggers, brokers = {}, secrets } = config.document;
  const file = log ?? (sink && resolve(folder, sink.file));
  return {
    host: nodeHost({ ...hostOptions(brokers, folder), ...(files !== undefined && { files }) }),
    policy: limitedPolicy(configFile, policy),
    ...(file !== undefined && { sink: fileSink(file, sink?.fsync && { fsync: sink.fsync }) }),
    ...(modeTriggers && { modeTriggers }),
    ...(secrets && { secrets: secretKeeper(storeOf(secrets)) }),
  };
}

/**
 * The policy of a configuration, or another in its place, under the limits of the configuration.
 *
 * @throws TypeError for a policy that has limits of the same tools; the message names file and line
 */
export function limitedPolicy({ config, explain }: ConfigFile, instead?: unknown): PolicyDocument {
  const limited = config.limited(instead);
  if (limited.ok) return limited.policy;
  throw new TypeError(explain(limited));
}

/**
 * Registers the tools of a configuration, and those of its section `tools`, which the caller has packed or read.
 *
 * @throws TypeError for a tool that the kernel refuses, two of one name, or a pipeline with an unknown one; the message names file and line
 */
export function registerConfigured(kernel: Kernel, file: ConfigFile, packages: readonly ToolPackage[] = []): void {
  const { config, explain } = file;
  const names = new Set(packages.map(({ manifest }) => manifest.name));
  const own = new Map([
    ...config.packages.map(({ manifest }) => [manifest.name, "http"] as const),
    ...config.pipelines.map(({ definition }) => [definition.name, "pipelines"] as const),
  ]);
  const fail = (path: string, message: string, hint: string): never => {
    throw new TypeError(explain({ path, message, hint }));
  };
  for (const [name, section] of own)
    if (names.has(name)) fail(`/${section}/${name}`, `Two tools have the name ${name}.`, "Rename one of them.");
  const bussed = busTools(config.document.bus);
  for (const [name, path] of bussed)
    if (names.has(name)) fail(pointerOf(path), `Two tools have the name ${name}.`, "Rename one of them.");
  const unknown = unknownStep(config, new Set([...names, ...own.keys(), ...bussed.keys()]));
  if (unknown) fail(unknown.path, unknown.message, unknown.hint);
  const registered = [
    ...[...packages, ...config.packages].map((pkg) => ({ name: pkg.manifest.name, setup: kernel.register(pkg) })),
    ...config.pipelines.map((tool) => ({ name: tool.definition.name, setup: kernel.registerTrusted(tool) })),
  ];
  for (const { name, setup } of registered)
    if (!setup.ok) fail(`/${own.get(name) ?? "tools"}/${name}`, setup.error.message, setup.error.hint);
}

/**
 * A kernel on Node as a configuration says, with its tools, on its bus.
 *
 * @param options replace those of the configuration; its limits hold over another policy
 * @throws TypeError as {@link registerConfigured}
 * @example
 * const loaded = await loadConfig("keyhole.config.yaml");
 * if (!loaded.ok) throw new Error(loaded.message);
 * const { kernel } = await openConfigured(loaded.value);
 */
export async function openConfigured(
  file: ConfigFile,
  packages: readonly ToolPackage[] = [],
  options: KernelOptions = {},
): Promise<ConfiguredKernel> {
  // A copy leaves out what a class carries: the kernel refuses the object itself.
  const given = plainMembers(options);
  const { policy, ...more } = given ?? {};
  const { sink, ...own } = configuredOptions(file, { policy });
  const kernel = await createKernel(given ? { ...own, ...(sink && { sink }), ...more } : options);
  let leave = async (): Promise<void> => {};
  const close = async (): Promise<void> => {
    await leave();
    await kernel.close();
  };
  try {
    registerConfigured(kernel, file, packages);
    leave = await joinConfiguredBus(kernel, file, { serve: true });
    return { kernel, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function hostOptions({ files, values, databases = {}, commands }: BrokersEntry, folder: string): NodeHostOptions {
  const path = (named: string): string => resolve(folder, named);
  return {
    ...(files !== undefined && { files: path(files) }),
    ...(values !== undefined && { values: path(values) }),
    databases: Object.fromEntries(Object.entries(databases).map(([name, named]) => [name, path(named)])),
    ...(commands && { commands }),
  };
}

/** Only the names that the configuration lists exist. */
function storeOf(secrets: SecretsEntry): SecretStore {
  const variables = new Map(Object.entries(secrets));
  return {
    get(name) {
      const variable = variables.get(name)?.env;
      return variable === undefined ? undefined : process.env[variable];
    },
    list: (start) => [...variables.keys()].filter((name) => name.startsWith(start)),
  };
}
