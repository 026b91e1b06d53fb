import { Worker } from "node:worker_threads";
import {
  type CallPort,
  type Isolate,
  type IsolateCall,
  IsolateFailure,
  type IsolateHost,
  type RegisteredTool,
} from "@keyhole/kernel";
import { dbBroker } from "../brokers/db.ts";
import { filesBroker, memoryStore } from "../brokers/files.ts";
import { kvBroker, memoryKv } from "../brokers/kv.ts";
import { netBroker } from "../brokers/net.ts";
import { type GuestPort, openChannel } from "../protocol/channel.ts";
import { nodeDatabase } from "./database.ts";
import { nodeKv } from "./kv.ts";
import { spawnBroker, type SpawnCommand } from "./spawn.ts";
import { nodeStore } from "./store.ts";
import shell from "./thread.ts?esm";

export interface NodeHostOptions {
  /** The folder that file tools see, which has to exist. Default: files in memory, gone with the host. */
  readonly files?: string;
  /** The file that holds the tools' values. Default: values in memory, gone with the host. */
  readonly values?: string;
  /** Files of databases, by the names under which tools know them. Default: none. */
  readonly databases?: Readonly<Record<string, string>>;
  /** Programs that tools may run, by the names under which they know them; each by its absolute path. Default: none. */
  readonly commands?: Readonly<Record<string, SpawnCommand | string>>;
  /**
   * Hashes of the packages that may run in a worker thread. A thread is no security boundary: its code can load `node:fs` and everything else that
   * this process can. Name only what you would import. Default: none.
   */
  readonly trusted?: readonly string[];
}

/** A module that takes this long to load is not going to end. */
const LOAD_MS = 5_000;

/**
 * Runs trusted tool packages on Node, each in a worker thread, which is stopped when a tool never yields. Any other package is refused with
 * `UNSUPPORTED_HOST`: this host has nothing that could hold a hostile tool.
 *
 * @example
 * const kernel = await createKernel({ host: nodeHost({ files: "./workspace", trusted: [echo.hash] }), policy });
 */
export function nodeHost({
  files,
  values,
  databases = {},
  commands = {},
  trusted = [],
}: NodeHostOptions = {}): IsolateHost {
  const hashes = new Set(trusted);
  const kv = values === undefined ? undefined : nodeKv(values);
  const db = Object.entries(databases).map(([name, file]) => [name, nodeDatabase(file)] as const);
  const open = new Set<Isolate["terminate"]>();
  return {
    name: "node",
    sources: ["module"],
    enforces: [],
    preempts: true,
    brokers: [
      netBroker(),
      filesBroker(files === undefined ? memoryStore() : nodeStore(files)),
      kvBroker(kv ?? memoryKv()),
      dbBroker(Object.fromEntries(db)),
      spawnBroker({ commands }),
    ],
    async open(tool) {
      if (tool.body.source !== "module")
        throw new IsolateFailure(
          "UNSUPPORTED_HOST",
          `The threads of Node run modules, and ${tool.id} is ${tool.body.source}.`,
        );
      if (!hashes.has(tool.hash)) {
        throw new IsolateFailure(
          "UNSUPPORTED_HOST",
          `${tool.id} is not trusted, and this host has no isolate that could hold it.`,
          `Run it in a browser or at the edge; if you would import its code into this process, name ${tool.hash} in \`trusted\`.`,
        );
      }
      return openThread(tool, tool.body.code, open);
    },
    async close() {
      for (const terminate of open) terminate("the host was closed");
      kv?.close();
      for (const [, database] of db) database.close();
    },
  };
}

const shellUrl = new URL(`data:text/javascript,${encodeURIComponent(shell)}`);

/** @param open where the thread is noted for as long as it lives */
async function openThread(tool: RegisteredTool, code: string, open: Set<Isolate["terminate"]>): Promise<Isolate> {
  const worker = new Worker(shellUrl, { env: {}, stdin: false, stdout: true, stderr: true });
  const channel = openChannel(portOf(worker), (reason) => terminate(`protocol: ${reason}`));
  const terminate = (reason: string): void => {
    channel.close(reason);
    open.delete(terminate);
    void worker.terminate();
  };
  open.add(terminate);
  // A thread can fail more than once, and an error that nobody hears ends the process.
  worker.on("error", (error) => terminate(`the thread failed: ${String(error)}`));
  worker.once("exit", () => terminate("the thread ended"));
  const tooSlow = setTimeout(() => terminate("it did not load in time"), LOAD_MS);
  await channel.ready;
  const loaded = await channel.load(code);
  clearTimeout(tooSlow);
  // A thread keeps the process alive while a call waits for it, and no longer.
  let calls = 0;
  worker.unref();
  if (loaded.kind === "loaded") {
    return {
      async call(call: IsolateCall, port: CallPort) {
        if (calls++ === 0) worker.ref();
        try {
          return await channel.call(call, port);
        } finally {
          if (--calls === 0) worker.unref();
        }
      },
      terminate,
      get alive() {
        return channel.open;
      },
    };
  }
  terminate("the tool did not load");
  const reason = loaded.kind === "failed" ? `${loaded.name}: ${loaded.message}` : loaded.reason;
  throw new IsolateFailure("TOOL_ERROR", `The module of ${tool.id} failed to load: ${reason}.`);
}

/** A worker as the port that a channel owns. Its messages come to a listener that the channel can drop. */
function portOf(worker: Worker): GuestPort {
  const port: GuestPort = {
    postMessage: (message) => worker.postMessage(message),
    onmessage: null,
    onmessageerror: null,
    close: () => worker.removeAllListeners("message"),
  };
  worker.on("message", (data: unknown) => port.onmessage?.({ data } as MessageEvent));
  worker.on("messageerror", (data: unknown) => port.onmessageerror?.({ data } as unknown as MessageEvent));
  return port;
}
