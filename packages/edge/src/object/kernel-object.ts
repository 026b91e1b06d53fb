import { knownOptions } from "@keyhole/kernel/foreign";
import { DurableObject } from "cloudflare:workers";
import {
  type Broker,
  createKernel,
  defaultModeTriggers,
  hashBytes,
  type IsolateHost,
  type Kernel,
  type ModeTrigger,
  type PolicyDocument,
  type Setup,
  type ToolPackage,
  parseUrl,
} from "@keyhole/kernel";
import { secretKeeper, type SecretStore } from "@keyhole/kernel/secrets";
import { ApprovalDesk } from "@keyhole/worker-host/approval-desk";
import { dbBroker, type SqlDatabase } from "@keyhole/worker-host/brokers/db";
import { filesBroker } from "@keyhole/worker-host/brokers/files";
import { r2Store } from "@keyhole/worker-host/brokers/files-r2";
import { kvBroker } from "@keyhole/worker-host/brokers/kv";
import { workersKv } from "@keyhole/worker-host/brokers/kv-workers";
import { netBroker } from "@keyhole/worker-host/brokers/net";
import type { BusEntry } from "@keyhole/worker-host/config";
import { withHttp } from "@keyhole/worker-host/http";
import { type WasiCommand, wasmHost, withWasiCommands } from "@keyhole/worker-host/wasm/modules";
import { type Engine, interpreterHost } from "@keyhole/worker-host/wasm/interpreter";
import type { McpPart, McpServed } from "../app/mcp.ts";
import { readJsonSetting } from "../app/json-setting.ts";
import { isTenant, nameRules } from "../app/names.ts";
import { Misconfigured, problemOf } from "../app/problem.ts";
import { causeOf, readinessAnswer } from "../app/readiness.ts";
import { createRoutes, type Routes } from "../app/routes.ts";
import { type Env, sandboxesOf } from "../env.ts";
import { edgeHost } from "../isolate/host.ts";
import type { OnUnresponsive } from "../isolate/isolate.ts";
import { sandboxLoader } from "../isolate/loader.ts";
import { IsolateRegistry } from "../isolate/isolate-registry.ts";
import { severalSandboxes } from "../isolate/sandboxes.ts";
import { configuredParts } from "./configured.ts";
import { type BusPart, JoinedBus } from "./joined-bus.ts";
import { sqlContent } from "./content.ts";
import { ObjectClock } from "./object-clock.ts";
import { sqlResources } from "./resources.ts";
import { dueVerification, sqlSink } from "./sink.ts";
import { writeProbe } from "./write-probe.ts";

export interface KernelObjectOptions {
  /** A configuration, whose tools stand beside `tools`, and whose policy stands before `policy`. Its limits hold over each policy. Default: none. */
  readonly config?: unknown;
  readonly tools: readonly ToolPackage[] | ((env: Env) => readonly ToolPackage[]);
  /** Joins the bus of `config`: `edgeBus({ wsconnect, headers })` of `@keyhole/edge/bus`. Default: the object refuses a configuration with a bus. */
  readonly bus?: BusPart;
  /** `/mcp`: `edgeMcp()` of `@keyhole/edge/mcp`. Default: 404 there. */
  readonly mcp?: (served: McpServed) => McpPart;
  /** Holds where `KEYHOLE_POLICY` is not set. */
  readonly policy: PolicyDocument;
  /** When the mode changes by itself. Default: {@link defaultModeTriggers}, which lead to `DEGRADED` where the storage of the log is short or full, or the log does not keep up. */
  readonly modeTriggers?: readonly ModeTrigger[];
  /** Secrets of one tenant, for the placeholders of its tools. Default: none. */
  readonly secrets?: (env: Env, tenant: string) => SecretStore | undefined;
  /** Databases of one tenant, by the names under which its tools know them. A D1 binding opens the complete database: bind one for each tenant. Default: none. */
  readonly databases?: (env: Env, tenant: string) => Readonly<Record<string, SqlDatabase>>;
  /**
   * QuickJS, metered by the build, for accounts without dynamic Workers: where neither `SANDBOX` nor `LOADER` is bound, tools run in it. Default: none, and
   * such a service answers `MISCONFIGURED`.
   */
  readonly engine?: Engine;
  /** Modules of tools of source `wasm`, metered by the build (`?metered`), for such accounts: that place compiles no bytes. Default: none. */
  readonly modules?: readonly WebAssembly.Module[];
  /**
   * WASI commands that tools may run, or be, by name. On accounts without dynamic Workers these are
   * modules that the build has metered. Default: none.
   */
  readonly commands?: Readonly<Record<string, WasiCommand>>;
}

/** A call without a bound of its own holds up its kernel for some tenths of a second at most. */
const INTERPRETER_FUEL = 2_000_000_000;
/** Half of what a Worker has. */
const INTERPRETER_MEMORY_BYTES = 67_108_864;

export type KernelObjectClass = new (
  context: DurableObjectState,
  env: Env,
) => DurableObject<Env> & { fetch(request: Request): Promise<Response> };

const known = {
  config: true,
  tools: true,
  bus: true,
  mcp: true,
  policy: true,
  modeTriggers: true,
  secrets: true,
  databases: true,
  engine: true,
  modules: true,
  commands: true,
} as const;

/**
 * The kernel of one tenant as a Durable Object: registry, rate windows, waiting approvals and the log exist once, for every Worker that a request came
 * through. Its SQLite storage keeps the log and what the log or a result stands for by digest; everything else starts anew with the object.
 *
 * @example
 * const Configured: KernelObjectClass = kernelObject({ tools: [...builtinTools, myTool], policy });
 * export class KernelObject extends Configured {}
 */
export function kernelObject(given: KernelObjectOptions): KernelObjectClass {
  const options = knownOptions(given, known, "kernelObject");
  return class extends DurableObject<Env> {
    /** The object keeps a failed start as well: it answers every request. */
    readonly #routes: Promise<Routes>;

    constructor(context: DurableObjectState, env: Env) {
      super(context, env);
      this.#routes = startRoutes(options, context, env);
      const started = this.#routes.then(
        () => {},
        () => {},
      );
      void context.blockConcurrencyWhile(() => started);
    }

    override async fetch(request: Request): Promise<Response> {
      try {
        const routes = await this.#routes;
        return await routes.fetch(request);
      } catch (error) {
        return parseUrl(request.url)?.pathname === "/healthz"
          ? readinessAnswer([causeOf(error, "The kernel did not start.")])
          : problemOf(error);
      }
    }
  };
}

async function startRoutes(options: KernelObjectOptions, context: DurableObjectState, env: Env): Promise<Routes> {
  const { tools, policy: ownPolicy, databases = () => ({}), secrets } = options;
  const tenant = tenantOf(context.id);
  const config = options.config === undefined ? undefined : configuredParts(options.config);
  const named = readPolicy(env.KEYHOLE_POLICY);
  const policy = config ? config.policy(named, ownPolicy) : (named ?? ownPolicy);
  const desk = new ApprovalDesk();
  const content = sqlContent(context.storage);
  const store = secrets?.(env, tenant) ?? config?.secrets?.(env);
  const resources = sqlResources(context.storage);
  const clock = new ObjectClock();
  const kernel = await createKernel({
    host: configured(() => hostOf(env, context, options, brokersOf(env, tenant, databases(env, tenant)))),
    policy,
    sink: sqlSink(context.storage),
    verifyEarlier: dueVerification(context.storage, clock),
    clock,
    content,
    approver: desk.approver,
    resources,
    modeTriggers: options.modeTriggers ?? config?.modeTriggers ?? defaultModeTriggers(resources),
    ...(store && { secrets: secretKeeper(store) }),
  }).catch((error: unknown) => {
    // The one thing that it throws for is the policy; its text is for the author of the policy.
    throw error instanceof TypeError
      ? new Misconfigured(error.message, `The policy is not valid. ${everyOtherRequest}`)
      : error;
  });
  const own = configured(() => (typeof tools === "function" ? tools(env) : tools));
  for (const tool of [...own, ...(config?.tools ?? [])]) assertRegistered(tool.manifest.name, kernel.register(tool));
  for (const tool of config?.pipelines ?? []) assertRegistered(tool.definition.name, kernel.registerTrusted(tool));
  const bus = joinedBus(options, config?.bus, kernel, env, tenant);
  const settings = { tokens: env.KEYHOLE_TOKENS, origins: env.KEYHOLE_ORIGINS, url: env.KEYHOLE_URL };
  const mcp = configured(() => options.mcp?.({ kernel, desk, content, policy, clock, tenant, settings }));
  return createRoutes({
    kernel,
    desk,
    policy,
    content,
    probe: writeProbe(context.storage),
    ...(mcp && { mcp }),
    ...(bus && { bus }),
  });
}

/** @throws {Misconfigured} for a configuration with a bus that nothing joins */
function joinedBus(
  { bus }: Pick<KernelObjectOptions, "bus">,
  entry: BusEntry | undefined,
  kernel: Kernel,
  env: Env,
  tenant: string,
): JoinedBus | undefined {
  if (!entry) return undefined;
  if (!bus) throw new Misconfigured("The section `bus` of the configuration needs `edgeBus` of @keyhole/edge/bus.");
  return tenant === "default" ? new JoinedBus(() => bus(kernel, entry, env)) : undefined;
}

function assertRegistered(name: string, registered: Setup<unknown>): void {
  if (registered.ok) return;
  const { code, message } = registered.error;
  throw new Misconfigured(`${name}: ${code}: ${message}`, `The kernel cannot register a tool. ${everyOtherRequest}`);
}

const everyOtherRequest = "Every other request gets this reason.";

/** A setting of which nothing can be made, such as an address that is none. */
function configured<Made>(make: () => Made): Made {
  try {
    return make();
  } catch (error) {
    throw error instanceof TypeError
      ? new Misconfigured(error.message, `A setting of the service is not valid. ${everyOtherRequest}`)
      : error;
  }
}

function tenantOf({ name }: DurableObjectId): string {
  if (name === undefined) throw new Misconfigured("Address a kernel object by its tenant's name.");
  // The platform replaces what it cannot encode, so several objects can have this name.
  if (!isTenant(name)) throw new Misconfigured(`The name of this kernel object is no tenant's name. ${nameRules}`);
  return name;
}

/** Tenants share a bucket and a namespace, each below its own name: encoded, so that none lies below another; as a digest where keys are short. */
function brokersOf(
  { FILES, VALUES }: Env,
  tenant: string,
  databases: Readonly<Record<string, SqlDatabase>>,
): readonly Broker[] {
  const digest = hashBytes(new TextEncoder().encode(tenant));
  return [
    netBroker(),
    filesBroker(r2Store(FILES, { prefix: `${encodeURIComponent(tenant)}/` })),
    ...(VALUES === undefined ? [] : [kvBroker(workersKv(VALUES, { prefix: `${digest}/` }))]),
    dbBroker(databases),
  ];
}

function hostOf(
  env: Env,
  context: DurableObjectState,
  { engine, modules = [], commands = {} }: Pick<KernelObjectOptions, "engine" | "modules" | "commands">,
  brokers: readonly Broker[],
): IsolateHost {
  const { LOADER, KEYHOLE_WATCHDOG } = env;
  const onUnresponsive: OnUnresponsive = (how, sandbox) =>
    context.waitUntil(callWatchdog(KEYHOLE_WATCHDOG, `${how}/${sandbox}`));
  const sandboxes = sandboxesOf(env).map((each) => sandboxLoader(each, tenantOf(context.id)));
  if (sandboxes.length > 0) {
    const onHeldUp = (sandbox: number): void => onUnresponsive("suspected", sandbox);
    const loader = sandboxes.length === 1 ? sandboxes[0]! : severalSandboxes(sandboxes, { onHeldUp });
    return edgeHost({ loader, brokers, commands, onUnresponsive });
  }
  if (LOADER !== undefined) return edgeHost({ loader: new IsolateRegistry(LOADER), brokers, commands, onUnresponsive });
  if (engine !== undefined) {
    const bounds = { fuel: INTERPRETER_FUEL, memoryBytes: INTERPRETER_MEMORY_BYTES };
    const host = both(interpreterHost({ engine, brokers, ...bounds }), wasmHost({ built: modules, fuel: bounds.fuel }));
    return withHttp(withWasiCommands(host, { commands: withFuel(commands, bounds.fuel) }));
  }
  throw new Misconfigured(
    "The bindings SANDBOX and LOADER are missing, and the interpreter is missing too. No tool can run.",
  );
}

/** Gives the fuel to commands without their own bound: they hold up their kernel too. */
function withFuel(
  commands: Readonly<Record<string, WasiCommand>>,
  fuel: number,
): Readonly<Record<string, WasiCommand>> {
  return Object.fromEntries(Object.entries(commands).map(([name, command]) => [name, { fuel, ...command }]));
}

/** Two hosts on the kernel's own thread, each for its own source; both count fuel and memory. */
function both(interpreter: IsolateHost, modules: IsolateHost): IsolateHost {
  return {
    ...interpreter,
    sources: [...interpreter.sources, ...modules.sources],
    check: (tool) => modules.check?.(tool),
    open: (tool, isWanted) => (tool.body.source === "wasm" ? modules : interpreter).open(tool, isWanted),
    close: async () => {
      await Promise.all([interpreter.close(), modules.close()]);
    },
  };
}

/** Whether it is a policy is for the kernel to say; here only whether it is JSON. */
function readPolicy(json: string | undefined): PolicyDocument | undefined {
  return json === undefined || json === "" ? undefined : (readJsonSetting("KEYHOLE_POLICY", json) as PolicyDocument);
}

/** A watchdog that does not hear it has its own heartbeat to go by. */
async function callWatchdog(url: string | undefined, path: string): Promise<void> {
  if (url !== undefined && url !== "") await fetch(`${url}/${path}`, { method: "POST" }).catch(() => undefined);
}
