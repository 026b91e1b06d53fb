// As a whole: an import of `globSync` alone fails on Node 20 before the package can say which Node it needs.
import fs from "node:fs";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Wrangler } from "./wrangler.ts";

/** A Worker, as Miniflare takes it; all but its port, its state and its log. */
export interface Worker {
  readonly name: string;
  readonly options: Readonly<Record<string, unknown>>;
}

export interface WorkerSource {
  /** wrangler's configuration. */
  readonly config: string;
  /** An environment of it. */
  readonly environment?: string | undefined;
  /** Variables, beside those of the configuration and in place of those of the same name. */
  readonly vars?: Readonly<Record<string, string>>;
}

const moduleTypes: ReadonlyMap<string, string> = new Map([
  [".js", "ESModule"],
  [".mjs", "ESModule"],
  [".wasm", "CompiledWasm"],
  [".txt", "Text"],
  [".html", "Text"],
  [".sql", "Text"],
  [".bin", "Data"],
]);

/**
 * The Worker of a wrangler configuration, built: `main` and the modules beside it are taken as they are.
 *
 * @throws {Error} for a configuration that cannot be read, or whose `main` is no JavaScript
 */
export function configuredWorker({ readConfig, workerOptions }: Wrangler, source: WorkerSource): Worker {
  const { config, environment, vars = {} } = source;
  const { name = "worker" } = readConfig(config, environment);
  const { main, workerOptions: given } = workerOptions(config, environment);
  if (main === undefined || moduleTypes.get(extname(main)) !== "ESModule")
    throw new Error(`${config}: \`main\` is ${main ?? "absent"}, expected a built module (.js). Build it first.`);
  // The rules are for wrangler's own bundler.
  const { modulesRules: _, ...options } = given;
  return withVariables({ name, options: { ...options, ...modulesOf(main) } }, vars);
}

/**
 * The bindings of the sandboxes. A tool that computes blocks its own sandbox, and another tool may
 * block a second one. The third stays free for the others.
 */
const sandboxBindings = ["SANDBOX", "SANDBOX_2", "SANDBOX_3"] as const;

/** The Workers in which tools run; they are part of this package. */
export function sandboxWorkers(): readonly Worker[] {
  // In the repository it is where the build of the service puts it.
  const path = import.meta.url.endsWith(".ts") ? "../../build/sandbox.js" : "../sandbox-worker.js";
  const options = {
    compatibilityDate: "2026-10-01",
    ...modulesOf(fileURLToPath(new URL(path, import.meta.url)), false),
    workerLoaders: { LOADER: {} },
    durableObjects: { REGISTRY: { className: "IsolateRegistryObject", useSQLite: true } },
  };
  return sandboxBindings.map((_, at) => ({ name: sandboxName(at), options }));
}

const sandboxName = (at: number): string => `keyhole-sandbox-${at + 1}`;

/** The same Worker with its tools in the sandboxes, where they would run in dynamic Workers. In the interpreter a tool that spins is stopped without one. */
export function withSandboxes({ name, options }: Worker): Worker {
  const services = recordIn(options["serviceBindings"]);
  if (!("SANDBOX" in services) && !("LOADER" in recordIn(options["workerLoaders"]))) return { name, options };
  const bound = Object.fromEntries(sandboxBindings.map((binding, at) => [binding, { name: sandboxName(at) }]));
  return { name, options: { ...options, serviceBindings: { ...services, ...bound } } };
}

export function withVariables({ name, options }: Worker, vars: Readonly<Record<string, string>>): Worker {
  return { name, options: { ...options, bindings: { ...recordIn(options["bindings"]), ...vars } } };
}

/** The value of a variable; `undefined` also where it is no text. */
export function variable({ options }: Worker, name: string): string | undefined {
  const value = new Map<string, unknown>(Object.entries(recordIn(options["bindings"]))).get(name);
  return typeof value === "string" ? value : undefined;
}

/** @param withOthers whether the modules beside the main one belong to it */
function modulesOf(main: string, withOthers = true): object {
  const root = dirname(main);
  const others = withOthers ? fs.globSync("**/*", { cwd: root }).map((path) => join(root, path)) : [];
  const modules = [main, ...others.filter((path) => path !== main)].flatMap((path) => {
    const type = moduleTypes.get(extname(path));
    return type === undefined ? [] : [{ type, path }];
  });
  return { rootPath: root, modulesRoot: root, modules };
}

function recordIn(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}
