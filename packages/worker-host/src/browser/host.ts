import {
  type Isolate,
  IsolateFailure,
  type IsolateHost,
  type RegisteredTool,
  type ToolManifest,
} from "@keyhole/kernel";
import { fsRead, fsWrite, kvRead, kvWrite, netRead, netWrite } from "@keyhole/kernel/families";
import { knownOptions } from "@keyhole/kernel/foreign";
import { lazyBroker } from "../brokers/lazy.ts";
import type { GuestChannel } from "../protocol/channel.ts";
import { loadFailure } from "../protocol/load-failure.ts";
import type { LoadedCode } from "../protocol/message.ts";
import { moduleCode, moduleFault } from "../protocol/module-code.ts";
import type { SpawnLimits } from "../brokers/spawn.ts";
import { withoutCommands } from "../process/no-commands.ts";
import type { WasiCommand } from "../wasm/command/command.ts";
import type { OpenModule } from "../wasm/command/isolates.ts";
import type { ResumableCalls } from "../wasm/interpreter/resumable.ts";
import { type PooledWorker, WorkerPool } from "./worker-pool.ts";
import { type FrameContainer, type Shell, START_MS } from "./frame-container.ts";
import { type Isolation, readIsolation } from "./isolation.ts";

export interface BrowserHostOptions {
  /** Where frames are put. Default: the document of this page. A kernel in a worker needs its page's: {@link remoteFrameContainer}. */
  readonly container?: FrameContainer;
  /** How tools in JavaScript run in their workers: all of them, or each as this says of its manifest, every time the same. Default `worker`. */
  readonly isolation?: Isolation | ((tool: ToolManifest) => Isolation);
  /** WASI commands that tools may run, or be, by the names under which they know them. Each run is in a frame of its own, under fuel. Default: none. */
  readonly commands?: Readonly<Record<string, WasiCommand>>;
  /** The limits of a command's input and output, and the number of running commands. */
  readonly commandLimits?: SpawnLimits;
  /** Tools that are requests run too. The page loads their code only then. Default `false`. */
  readonly http?: boolean;
  /**
   * Frame and worker pairs that wait for a tool: the next isolate is then there in milliseconds.
   * About 3 MB each. With an `isolation` for each tool they serve tools in a `worker`. Default 1.
   */
  readonly warm?: number;
  /** Frames in use at the same time, warm ones and killed ones that still spin included. Beyond, opening waits its turn; commands have four more. Default 32. */
  readonly maxIsolates?: number;
  /**
   * Bytes that frames hold together while no call uses them; each counts 6 MiB and the memory of an
   * interpreted tool. A session whose frame was ended waits for a new one. Default 256 MiB.
   */
  readonly idleBytes?: number;
  /**
   * Milliseconds until an isolate's frame has to run its worker, and again until that worker has to answer. Later it is `ISOLATE_LOST`, with the part that is missing. A container
   * of your own has its own deadline for the first. Default 30,000.
   */
  readonly startTimeoutMs?: number;
}

const known = {
  container: true,
  isolation: true,
  commands: true,
  commandLimits: true,
  http: true,
  warm: 0,
  maxIsolates: 1,
  idleBytes: 0,
  startTimeoutMs: 1,
} as const;
/** Of a frame and its worker, without the memory of an interpreted tool: measured in Chromium. */
const FRAME_BYTES = 6 * 2 ** 20;
/** A module that takes this long to load is not going to end; the largest package loads in a fraction of it. */
const LOAD_MS = 5_000;

/**
 * Runs each tool in a dedicated worker inside a hidden frame of its own, which has no origin, no network and no storage: the browser enforces
 * that, not a script. A tool that never yields is stopped with its thread. Modules of WebAssembly run under fuel there.
 *
 * @throws TypeError for a command whose name is none or whose module cannot be one
 * @throws IsolateFailure `UNSUPPORTED_HOST` when there is no document and no `container`, or when the page's Content-Security-Policy stands in
 * the way; the message names the directive
 * @example
 * const kernel = await createKernel({ host: await browserHost(), policy });
 */
export async function browserHost(given: BrowserHostOptions = {}): Promise<IsolateHost> {
  const options = knownOptions(given, known, "browserHost");
  const { isolation = "worker", startTimeoutMs = START_MS, maxIsolates: capacity = 32, warm = 1 } = options;
  const { idleBytes = 256 * 2 ** 20 } = options;
  const isolationOf = readIsolation(isolation);
  const container = options.container ?? (await pageContainer(startTimeoutMs));
  const shellOf = (tool: ToolManifest): Shell => {
    if (tool.source === "wasm") return "wasm";
    return isolationOf(tool) === "interpreter" ? "interpreter" : "module";
  };
  // Not part of pages that never ask for it.
  const interpreter = isolation === "worker" ? undefined : await import("./interpreter.ts");
  const boot = await interpreter?.interpreterBoot();
  const size = capacity + Math.floor(idleBytes / FRAME_BYTES);
  const warmShell = isolation === "interpreter" ? "interpreter" : "module";
  const pairs = new WorkerPool(container, { boot, size, warm, warmShell, startTimeoutMs });
  await pairs.start();
  const files = lazyBroker([fsRead, fsWrite], async () => (await import("./stores.ts")).pageFiles());
  const host: IsolateHost = {
    name: "browser",
    sources: ["module", "wasm"],
    enforces(tool) {
      try {
        return shellOf(tool) === "module" ? [] : ["fuel", "memoryBytes"];
      } catch {
        return []; // The opening of the tool says why.
      }
    },
    preempts: true,
    capacity,
    idleBytes,
    brokers: [
      lazyBroker([netRead, netWrite], async () => (await import("../brokers/net.ts")).netBroker()),
      files,
      lazyBroker([kvRead, kvWrite], async () => (await import("./stores.ts")).pageValues()),
    ],
    check: moduleFault,
    async open(tool, isWanted) {
      const loadable = loadableOf(tool);
      const code = loadable instanceof Promise ? await loadable : loadable;
      const shell = shellOf(tool.manifest);
      const resumable = shell === "interpreter" ? interpreter?.resumableCalls : undefined;
      return loadPair(pairs.take(shell, tool.id, isWanted), code, tool, resumable);
    },
    ...(interpreter &&
      boot && {
        snapshotKind: () => interpreter.interpreterKind(boot),
        async thaw({ id }, snapshot, isWanted) {
          const pair = await pairs.take("interpreter", id, isWanted);
          return isolateOf(pair, interpreter.resumableCalls(pair.channel, snapshot));
        },
      }),
    close: async () => pairs.close(),
  };
  const withRequests = options.http === true ? (await import("../http/tool.ts")).withHttp : (each: IsolateHost) => each;
  if (options.commands === undefined) return withRequests(withoutCommands(host));
  const open: OpenModule = (module, id, isWanted) => loadPair(pairs.takeForCommand(id, isWanted), module, { id });
  const { offerCommands } = await import("./commands.ts");
  return withRequests(offerCommands(host, options.commands, { open, files }, options.commandLimits));
}

async function pageContainer(startTimeoutMs: number): Promise<FrameContainer> {
  // A kernel in a worker uses the container of its page: it does not carry the shells as well.
  if (typeof document === "object")
    return (await import("./dom-frame-container.ts")).domFrameContainer({ startTimeoutMs });
  throw new IsolateFailure("UNSUPPORTED_HOST", "This realm has no document, which isolates need.", {
    operatorHint:
      "In a worker pass `container: remoteFrameContainer()`, and call `serveFrameContainer(worker)` in the page.",
  });
}

/** @throws IsolateFailure for a module that cannot be metered */
function loadableOf(tool: RegisteredTool): LoadedCode | Promise<LoadedCode> {
  if (tool.body.source !== "module" && tool.body.source !== "wasm")
    throw new IsolateFailure(
      "UNSUPPORTED_HOST",
      `The browser's isolates run modules and WebAssembly, and ${tool.id} is ${tool.body.source}.`,
    );
  return tool.body.source === "module" ? moduleCode(tool) : loadableModule(tool);
}

async function loadableModule(tool: RegisteredTool): Promise<LoadedCode> {
  // Not part of pages that have no such tool.
  const { loadedModule, meteredCode } = await import("../wasm/tool/load.ts").catch(notLoaded);
  // A frame is in another agent cluster, which a compiled module does not reach.
  return loadedModule(tool, meteredCode(tool));
}

function notLoaded(): never {
  throw new IsolateFailure("ISOLATE_LOST", "The page could not load the code that runs WebAssembly.", {
    hint: "Try again later.",
    operatorHint: "Serve every file of the page's build, including the chunks of later imports.",
  });
}

async function loadPair(
  opening: Promise<PooledWorker>,
  code: LoadedCode,
  { id, manifest }: Pick<RegisteredTool, "id"> & Partial<Pick<RegisteredTool, "manifest">>,
  resumable?: (channel: GuestChannel) => ResumableCalls,
): Promise<Isolate> {
  const pair = await opening;
  const { channel, retire } = pair;
  const tooSlow = setTimeout(() => retire("it did not load in time"), LOAD_MS);
  const loaded = await channel.load(code, manifest?.bounds.memoryBytes);
  clearTimeout(tooSlow);
  if (loaded.kind !== "loaded") {
    retire("the tool did not load");
    throw loadFailure(id, loaded);
  }
  return isolateOf(pair, resumable?.(channel));
}

function isolateOf({ channel, retire }: PooledWorker, resumable: ResumableCalls | undefined): Isolate {
  return {
    call: (call, port) => (resumable ?? channel).call(call, port),
    ...(resumable && { suspend: () => resumable.suspend() }),
    watch: (onWentOn) => channel.onWentOn(onWentOn),
    terminate: retire,
    get heldBytes() {
      return FRAME_BYTES + channel.peakMemoryBytes;
    },
    get alive() {
      return channel.open;
    },
  };
}
