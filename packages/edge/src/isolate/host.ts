import {
  type Broker,
  ceilings,
  defaultBounds,
  IsolateFailure,
  type IsolateHost,
  limits,
  type RegisteredTool,
  type SetupError,
} from "@keyhole/kernel";
import { knownOptions } from "@keyhole/kernel/foreign";
import { maxInFlight } from "./in-flight.ts";
import type { SpawnLimits } from "@keyhole/worker-host/brokers/spawn";
import { withHttp } from "@keyhole/worker-host/http";
import { type LoadedCode, moduleCode, moduleFault } from "@keyhole/worker-host/protocol";
import {
  faultOf,
  filesOf,
  loadedModule,
  meteredCode,
  type WasiCommand,
  wasiRunners,
  withCommands,
} from "@keyhole/worker-host/wasm/modules";
import { EdgeIsolate, type OnUnresponsive } from "./isolate.ts";
import type { IsolateLoader } from "./loader.ts";
import { isTooLarge } from "./packet.ts";

export interface EdgeHostOptions {
  readonly loader: IsolateLoader;
  /** Serve the tools' capabilities. Default: none. */
  readonly brokers?: readonly Broker[];
  /** WASI commands that tools may run, or be, by the names under which they know them. Each run is in a dynamic Worker of its own, under fuel. Default: none. */
  readonly commands?: Readonly<Record<string, WasiCommand>>;
  /** The limits of a command's input and output, each at most 24 MiB, and the number of running commands. */
  readonly commandLimits?: SpawnLimits;
  /** Called when a guest does not end, so that a program outside can end the sandbox's process. */
  readonly onUnresponsive?: OnUnresponsive;
  /**
   * Whether something ends a guest that spins: Cloudflare's CPU limit, or a watchdog over the sandbox. Default `true`; `false` where workerd runs on its own,
   * and there a tool that spins stops everything.
   */
  readonly preempts?: boolean;
  /** Milliseconds until a sandbox that cannot be reached has to answer. Later it is `ISOLATE_LOST`. Default 30,000. */
  readonly startTimeoutMs?: number;
}

const always = (): boolean => true;

const known = {
  loader: true,
  brokers: true,
  commands: true,
  commandLimits: true,
  onUnresponsive: true,
  preempts: true,
  startTimeoutMs: 1,
} as const;

/** Of a module, once it counts its instructions. */
const tooLarge: SetupError = {
  code: "INVALID_MANIFEST",
  path: "/code",
  message: "The metered module is larger than the 32 MiB that a dynamic Worker can be sent.",
  hint: "Build it for size, without debug information.",
};

function sizeFault(tool: RegisteredTool): SetupError | undefined {
  return tool.body.source === "wasm" && isTooLarge(loadedModule(tool, meteredCode(tool))) ? tooLarge : undefined;
}

function assertLimits({ stdinBytes = 0, stdoutBytes = 0, stderrBytes = 0 }: SpawnLimits = {}): void {
  const most = limits.wholeOutputBytes;
  if (stdinBytes <= most && stdoutBytes + stderrBytes <= most) return;
  throw new TypeError(
    `edgeHost: at most ${most} bytes reach a dynamic Worker, or leave it. Lower \`stdinBytes\`, or \`stdoutBytes\` and \`stderrBytes\` of \`commandLimits\`.`,
  );
}

/** Dynamic Workers for commands. Apart from those of tools: a tool that waits for a command keeps its own. */
const COMMAND_WORKERS = 2;

/**
 * Runs each tool in a dynamic Worker of its own, modules of WebAssembly under fuel: no network, no Node, no bindings. A call's only way out is its own `CallChannel`, which checks what comes
 * and goes dead when the call ends.
 *
 * @throws TypeError for a command whose name is none or whose module cannot be one, and for limits of commands that no message holds
 * @example
 * const kernel = await createKernel({ host: edgeHost({ loader: sandboxLoader(env.SANDBOX) }), policy });
 */
export function edgeHost(options: EdgeHostOptions): IsolateHost {
  const {
    loader,
    brokers = [],
    commands = {},
    commandLimits,
    onUnresponsive = () => {},
    preempts = true,
    startTimeoutMs = 30_000,
  } = knownOptions(options, known, "edgeHost");
  assertLimits(commandLimits);
  const open = new Set<EdgeIsolate>();
  const openWorker = async (code: LoadedCode, cpuMs: number, isWanted = always): Promise<EdgeIsolate> => {
    if (typeof code !== "string" && isTooLarge(code))
      throw new IsolateFailure("BOUNDS_EXCEEDED", tooLarge.message, { operatorHint: tooLarge.hint });
    const around = { loader, onUnresponsive, startTimeoutMs, isWanted, onClosed: () => open.delete(isolate) };
    const isolate = await EdgeIsolate.open(around, { code, cpuMs });
    open.add(isolate);
    return isolate;
  };
  const places = Object.keys(commands).length > 0 ? COMMAND_WORKERS : 0;
  const host: IsolateHost = {
    name: "edge",
    sources: ["module", "wasm"],
    enforces: ({ source }) => (source === "wasm" ? ["fuel", "memoryBytes"] : []),
    preempts,
    // A call from within keeps its caller's Worker in flight: only who gives out all places can tell when none will come back.
    capacity: maxInFlight - places,
    brokers,
    check: (tool) => moduleFault(tool) ?? faultOf(tool) ?? sizeFault(tool),
    async open(tool, isWanted) {
      if (tool.body.source !== "module" && tool.body.source !== "wasm")
        throw new IsolateFailure("UNSUPPORTED_HOST", "A dynamic Worker runs packages only.");
      return openWorker(
        tool.body.source === "module" ? moduleCode(tool) : loadedModule(tool, meteredCode(tool)),
        tool.manifest.bounds.timeoutMs ?? defaultBounds.timeoutMs,
        isWanted,
      );
    },
    async close() {
      for (const isolate of open) isolate.terminate("the host was closed");
    },
  };
  // How long a command may take is its call's to say.
  const openCommand = (module: LoadedCode): Promise<EdgeIsolate> => openWorker(module, ceilings.timeoutMs);
  const runners = wasiRunners(commands, { open: openCommand, places, files: filesOf(brokers), compiled: false });
  return withHttp(withCommands(host, runners, commandLimits));
}
