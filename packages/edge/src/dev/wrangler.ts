import { createRequire } from "node:module";

/** One workerd process, and what it needs around it. */
export interface Miniflare {
  readonly ready: Promise<unknown>;
  /** Of the Worker itself, without anything in front of it. */
  unsafeGetDirectURL(): Promise<URL>;
  dispose(): Promise<void>;
}

/** The used part of Miniflare, the part of wrangler that starts workerd. */
export interface MiniflareModule {
  readonly Miniflare: new (options: object) => Miniflare;
  readonly convertV4MiniflareOptions: (options: object) => object;
  readonly Log: new (level: number) => object;
}

/** The used part of wrangler: it reads its configuration file. */
export interface Wrangler {
  readonly readConfig: (config: string, environment: string | undefined) => { readonly name?: string | undefined };
  readonly workerOptions: (config: string, environment: string | undefined) => WorkerOptions;
  readonly miniflare: MiniflareModule;
}

export interface WorkerOptions {
  /** The Worker's main module; absent where the configuration names none. */
  readonly main?: string | undefined;
  readonly workerOptions: Readonly<Record<string, unknown>>;
}

const neededVersion = "4.149.0";

/**
 * wrangler, as the program that uses this package has it installed. Miniflare comes with it, and is taken from there: another version would bring another workerd.
 *
 * @throws {Error} in one sentence where it is not installed, or is another version than this works with
 */
export async function loadWrangler(): Promise<Wrangler> {
  // Read at the evaluation of the module. A wrong setting is told in an error; its warnings are about deployment.
  process.env["WRANGLER_LOG"] ??= "error";
  const { path, loaded } = await imported();
  const miniflare: unknown = createRequire(path)("miniflare");
  if (!isWrangler(loaded) || !isMiniflare(miniflare))
    throw new Error(`This version of wrangler cannot be used: install wrangler ${neededVersion}.`);
  const { unstable_readConfig: readConfig, unstable_getMiniflareWorkerOptions: workerOptions } = loaded;
  return {
    readConfig: (config, env) => readConfig({ config, ...(env !== undefined && { env }) }),
    workerOptions: (config, env) => workerOptions(config, env),
    miniflare,
  };
}

async function imported(): Promise<{ readonly path: string; readonly loaded: unknown }> {
  try {
    return { path: createRequire(import.meta.url).resolve("wrangler"), loaded: await import("wrangler") };
  } catch (error) {
    throw new Error(`wrangler is missing: npm install --save-dev wrangler@${neededVersion}`, { cause: error });
  }
}

/** As wrangler exports it. */
interface WranglerModule {
  readonly unstable_readConfig: (args: { readonly config: string; readonly env?: string }) => {
    readonly name?: string;
  };
  readonly unstable_getMiniflareWorkerOptions: Wrangler["workerOptions"];
}

function isWrangler(loaded: unknown): loaded is WranglerModule {
  return hasFunctions(loaded, "unstable_readConfig", "unstable_getMiniflareWorkerOptions");
}

function isMiniflare(loaded: unknown): loaded is MiniflareModule {
  return hasFunctions(loaded, "Miniflare", "convertV4MiniflareOptions", "Log");
}

function hasFunctions(loaded: unknown, ...names: readonly string[]): boolean {
  if (typeof loaded !== "object" || loaded === null) return false;
  const members = new Map<string, unknown>(Object.entries(loaded));
  return names.every((name) => typeof members.get(name) === "function");
}
