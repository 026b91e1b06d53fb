import { type Isolate, IsolateFailure, type IsolateHost } from "@keyhole/kernel";
import { dbBroker } from "../brokers/db.ts";
import { filesBroker, memoryStore } from "../brokers/files.ts";
import { kvBroker, memoryKv } from "../brokers/kv.ts";
import { netBroker } from "../brokers/net.ts";
import { faultOf } from "../wasm/tool/host.ts";
import { commandFault, openCommand } from "./command-tool.ts";
import { nodeDatabase } from "./database.ts";
import { interpreterScript } from "./interpreter.ts";
import { nodeKv } from "./kv.ts";
import { spawnBroker, type SpawnCommand } from "./spawn.ts";
import { nodeStore } from "./store.ts";
import { openThread, type ThreadScript } from "./thread-isolate.ts";
import shell from "./thread.ts?esm";
import { openWasmThread } from "./wasm.ts";

export interface NodeHostOptions {
  /** The folder that file tools see, which has to exist. Default: files in memory, gone with the host. */
  readonly files?: string;
  /** The file that holds the tools' values. Default: values in memory, gone with the host. */
  readonly values?: string;
  /** Files of databases, by the names under which tools know them. Default: none. */
  readonly databases?: Readonly<Record<string, string>>;
  /** Programs that tools may run, or be, by the names under which they know them; each by its absolute path. Default: none. */
  readonly commands?: Readonly<Record<string, SpawnCommand | string>>;
  /**
   * Hashes of the packages that may run in a worker thread as they are, which is some fifty times faster. A thread is no security boundary: its code
   * can load `node:fs` and everything else that this process can. Name only what you would import. Default: none.
   */
  readonly trusted?: readonly string[];
  /** The file `quickjs.wasm` of the package `quickjs-wasi`, for programs that are bundled without it. Default: that of the installed package. */
  readonly quickJs?: string;
}

/**
 * Runs tool packages on Node: JavaScript in an interpreter, QuickJS compiled to WebAssembly, and modules of WebAssembly as they are. Both reach nothing but their own memory and count fuel. Each has a
 * thread of its own, which is stopped when a tool never yields. A package that is named in `trusted` runs in such a thread as it is, at the full
 * speed of the engine. A tool of source `process` is a program of `commands`, in no isolate: it has all rights of this process.
 *
 * @example
 * const kernel = await createKernel({ host: nodeHost({ files: "./workspace" }), policy });
 */
export function nodeHost({
  files,
  values,
  databases = {},
  commands = {},
  trusted = [],
  quickJs,
}: NodeHostOptions = {}): IsolateHost {
  const hashes = new Set(trusted);
  const kv = values === undefined ? undefined : nodeKv(values);
  const db = Object.entries(databases).map(([name, file]) => [name, nodeDatabase(file)] as const);
  const open = new Set<Isolate["terminate"]>();
  return {
    name: "node",
    sources: ["module", "wasm", "process"],
    enforces: ["fuel", "memoryBytes"],
    preempts: true,
    brokers: [
      netBroker(),
      filesBroker(files === undefined ? memoryStore() : nodeStore(files)),
      kvBroker(kv ?? memoryKv()),
      dbBroker(Object.fromEntries(db)),
      spawnBroker({ commands }),
    ],
    check: (tool) => faultOf(tool) ?? commandFault(tool, commands),
    async open(tool) {
      if (tool.body.source === "wasm") return openWasmThread(tool, open);
      if (tool.body.source === "process") return openCommand(tool.body, commands, open);
      if (tool.body.source !== "module")
        throw new IsolateFailure(
          "UNSUPPORTED_HOST",
          `Node runs modules, WebAssembly and programs, and ${tool.id} is ${tool.body.source}.`,
        );
      const { code } = tool.body;
      const interpreted = async (): Promise<Isolate> => openThread(tool, code, await interpreterScript(quickJs), open);
      if (!hashes.has(tool.hash)) return interpreted();
      return countedElsewhere(await openThread(tool, code, trustedScript, open), interpreted);
    },
    async close() {
      for (const terminate of open) terminate("the host was closed");
      kv?.close();
      for (const [, database] of db) database.close();
    },
  };
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
    terminate(reason) {
      thread.terminate(reason);
      interpreter?.terminate(reason);
    },
    get alive() {
      return thread.alive && interpreter?.alive !== false;
    },
  };
}
