import { type Broker, type Isolate, IsolateFailure, type IsolateHost } from "@keyhole/kernel";
import { knownOptions } from "@keyhole/kernel/foreign";
import { dbBroker } from "../brokers/db.ts";
import { filesBroker, memoryStore } from "../brokers/files.ts";
import { kvBroker, memoryKv } from "../brokers/kv.ts";
import { netBroker } from "../brokers/net.ts";
import type { CommandRunner, SpawnLimits } from "../brokers/spawn.ts";
import { moduleCode, moduleFault } from "../protocol/module-code.ts";
import { withHttp } from "../http/tool.ts";
import { withCommands } from "../process/tool.ts";
import type { WasiCommand } from "../wasm/command/command.ts";
import type { OpenModule } from "../wasm/command/isolates.ts";
import { wasiRunners } from "../wasm/command/index.ts";
import { faultOf, loadedModule, meteredCode } from "../wasm/tool/load.ts";
import { nodeDatabase } from "./database.ts";
import { interpreterKind, interpreterScript } from "./interpreter.ts";
import { nodeKv } from "./kv.ts";
import { programRunner, type SpawnCommand } from "./spawn.ts";
import { nodeStore } from "./store.ts";
import { openThread, thawThread, type ThreadScript } from "./thread-isolate.ts";
import shell from "keyhole:./thread.ts?esm";
import { openModuleThread } from "./wasm.ts";

export interface NodeHostOptions {
  /** The folder that file tools see; the first write makes it. Default: files in memory, gone with the host. */
  readonly files?: string;
  /** The file that holds the tools' values. Default: values in memory, gone with the host. */
  readonly values?: string;
  /** Files of databases, by the names under which tools know them. Default: none. */
  readonly databases?: Readonly<Record<string, string>>;
  /**
   * The programs that tools may run, or be, by the names that tools use: programs by absolute paths, and WASI commands. Each run of a WASI command has a thread of its
   * own, under fuel. Default: none.
   */
  readonly commands?: Readonly<Record<string, SpawnCommand | WasiCommand | string>>;
  /** The limits of a command's input and output, and the number of running commands. */
  readonly commandLimits?: SpawnLimits;
  /**
   * Hashes of the packages that may run in a worker thread as they are, which is some fifty times faster. A thread is no security boundary: its code
   * can load `node:fs` and everything else that this process can. Name only what you would import. Default: none.
   */
  readonly trusted?: readonly string[];
  /** The file `quickjs.wasm` of the package `quickjs-wasi`, for programs that are bundled without it. Default: that of the installed package. */
  readonly quickJs?: string;
  /**
   * Bytes that threads hold together while no call uses them; each counts 8 MiB and the memory of its
   * tool. A session whose thread was ended waits for a new one. Default 512 MiB.
   */
  readonly idleBytes?: number;
  /** Milliseconds until an isolate's thread has to answer. Later it is `ISOLATE_LOST`. Default 30,000. */
  readonly startTimeoutMs?: number;
}

const known = {
  files: true,
  values: true,
  databases: true,
  commands: true,
  commandLimits: true,
  trusted: true,
  quickJs: true,
  idleBytes: 0,
  startTimeoutMs: 1,
} as const;

/**
 * Runs tool packages on Node: JavaScript in an interpreter, QuickJS compiled to WebAssembly, and modules of WebAssembly as they are. Both reach nothing but their own memory and count fuel. Each has a
 * thread of its own, which the host stops when a tool never yields. A package that is named in `trusted` runs in such a thread as it is, at the full
 * speed of the engine. A tool of source `process` is one of `commands`: a WASI command in such a thread, or a program in no isolate, with all rights of this process.
 *
 * @throws {TypeError} when a path is not absolute, a name is none, or a module cannot be a command
 * @example
 * const kernel = await createKernel({ host: nodeHost({ files: "./workspace" }), policy });
 */
export function nodeHost(options: NodeHostOptions = {}): IsolateHost {
  const {
    files,
    values,
    databases = {},
    commands = {},
    commandLimits,
    trusted = [],
    quickJs,
    idleBytes = 512 * 2 ** 20,
    startTimeoutMs,
  } = knownOptions(options, known, "nodeHost");
  const hashes = new Set(trusted);
  const kv = values === undefined ? undefined : nodeKv(values);
  const db = Object.entries(databases).map(([name, file]) => [name, nodeDatabase(file)] as const);
  const open = new Set<Isolate["terminate"]>();
  const stored = filesBroker(files === undefined ? memoryStore() : nodeStore(files));
  const host: IsolateHost = {
    name: "node",
    sources: ["module", "wasm"],
    enforces: ["fuel", "memoryBytes"],
    preempts: true,
    idleBytes,
    brokers: [netBroker(), stored, kvBroker(kv ?? memoryKv()), dbBroker(Object.fromEntries(db))],
    check: (tool) => (hashes.has(tool.hash) ? undefined : moduleFault(tool)) ?? faultOf(tool),
    async open(tool, isWanted) {
      if (tool.body.source === "wasm")
        return openModuleThread(loadedModule(tool, meteredCode(tool)), tool.id, open, isWanted, startTimeoutMs);
      if (tool.body.source !== "module")
        throw new IsolateFailure(
          "UNSUPPORTED_HOST",
          `Node runs modules, WebAssembly and commands, and ${tool.id} is ${tool.body.source}.`,
        );
      // A trusted package runs as an import of the program would.
      const code = hashes.has(tool.hash) ? tool.body.code : moduleCode(tool);
      const interpreted = async (isStillWanted?: () => boolean): Promise<Isolate> =>
        openThread(
          tool.id,
          code,
          { ...(await interpreterScript(quickJs, startTimeoutMs)), memoryBytes: tool.manifest.bounds.memoryBytes },
          open,
          isStillWanted,
        );
      if (!hashes.has(tool.hash)) return interpreted(isWanted);
      return countedElsewhere(
        await openThread(tool.id, code, { ...trustedScript, startTimeoutMs }, open, isWanted),
        interpreted,
      );
    },
    snapshotKind: () => interpreterKind(quickJs),
    thaw: async ({ id }, snapshot, isWanted) =>
      thawThread(id, snapshot, await interpreterScript(quickJs, startTimeoutMs), open, isWanted),
    async close() {
      for (const terminate of open) terminate("the host was closed");
      kv?.close();
      for (const [, database] of db) database.close();
    },
  };
  return withHttp(withCommands(host, runnersOf(commands, stored, openIn(open, startTimeoutMs)), commandLimits));
}

/** Threads for commands at the same time, idle ones included. */
const COMMAND_THREADS = 8;

function runnersOf(
  commands: NonNullable<NodeHostOptions["commands"]>,
  files: Broker,
  open: OpenModule,
): ReadonlyMap<string, CommandRunner> {
  const entries = Object.entries(commands);
  const isModule = (command: SpawnCommand | WasiCommand | string): command is WasiCommand =>
    typeof command === "object" && "module" in command;
  const modules = entries.filter((entry): entry is [string, WasiCommand] => isModule(entry[1]));
  const programs = entries.filter((entry): entry is [string, SpawnCommand | string] => !isModule(entry[1]));
  const place = { open, places: COMMAND_THREADS, files, compiled: true };
  return new Map([
    ...wasiRunners(Object.fromEntries(modules), place),
    ...programs.map(([name, program]) => [name, programRunner(name, program)] as const),
  ]);
}

function openIn(open: Set<Isolate["terminate"]>, startTimeoutMs: number | undefined): OpenModule {
  return (module, name, isWanted) => openModuleThread(module, name, open, isWanted, startTimeoutMs);
}

const trustedScript: ThreadScript = {
  url: new URL(`data:text/javascript,${encodeURIComponent(shell)}`),
  metered: false,
};

/** A thread counts neither fuel nor memory: a call that has such a bound goes to an interpreter, which is opened when the first one comes. */
function countedElsewhere(thread: Isolate, openInterpreter: () => Promise<Isolate>): Isolate {
  let interpreter: Isolate | undefined;
  return {
    async call(call, port) {
      if (call.fuel === undefined && call.memoryBytes === undefined) return thread.call(call, port);
      interpreter ??= await openInterpreter();
      return interpreter.call(call, port);
    },
    watch: (onWentOn) => thread.watch?.(onWentOn),
    get heldBytes() {
      return (thread.heldBytes ?? 0) + (interpreter?.heldBytes ?? 0);
    },
    terminate(reason) {
      thread.terminate(reason);
      interpreter?.terminate(reason);
    },
    get alive() {
      return thread.alive && interpreter?.alive !== false;
    },
  };
}
