import { knownOptions } from "@keyhole/kernel/foreign";
import type { SqlAnswer, SqlDatabase } from "./sql/database.ts";
import { watchPolicy } from "./page-policy.ts";
import type { WorkerNotice, WorkerStart } from "./sql/opfs-worker.ts";
import { type Engine, type EngineEvents, remoteDatabase } from "./sql/remote.ts";

export interface OpfsDatabaseOptions {
  /** Name of its folder in the origin private file system: letters, digits, `_`, `-`. Default `main`. */
  readonly name?: string;
}

export interface OpfsDatabase extends SqlDatabase {
  /** Ends the worker that holds the file. A later statement starts another. */
  close(): void;
}

/** The engine ends its statements itself; a worker that is later than this hangs. */
const graceMs = 2_000;

/**
 * A database in the origin private file system, served by SQLite as WebAssembly in a worker of its own. Works in pages and in dedicated workers, without
 * COOP and COEP. Tabs of the origin take turns: each has it open until another one has a statement.
 *
 * The engine ends a statement at its time. When a call ends before its statement does, the
 * statement continues until then.
 *
 * A page's Content-Security-Policy has to let it: `worker-src 'self'`, and, also in the policy that the worker's own file is served with, `connect-src 'self'` and
 * `script-src 'self' 'wasm-unsafe-eval'`. What it lacks is named in the answer.
 *
 * @throws {TypeError} for another name
 */
export function opfsDatabase(options: OpfsDatabaseOptions = {}): OpfsDatabase {
  const { name = "main" } = knownOptions(options, { name: true }, "opfsDatabase");
  if (!/^[\w-]{1,64}$/.test(name)) throw new TypeError("A database's name has letters, digits, `_` and `-`.");
  return remoteDatabase((events) => startWorker(name, events), { graceMs, endsWithCall: false });
}

function startWorker(name: string, { message, ended, wanted }: EngineEvents): Engine {
  const policy = watchPolicy((blocked) => blocked.includes("opfs-worker"));
  const worker = new Worker(new URL("./sql/opfs-worker.ts", import.meta.url), { type: "module", name: "database" });
  worker.onmessage = ({ data }: MessageEvent<WorkerStart | WorkerNotice | SqlAnswer>) => {
    if (data === "wanted") return wanted();
    if (data === "ready") policy.leave();
    if (typeof data === "object" && "failed" in data)
      ended(data.failed === undefined ? undefined : lacking(data.failed));
    else message(data);
  };
  worker.onerror = async () => {
    const lacks = await policy.lacks();
    policy.leave();
    ended(lacks === undefined ? undefined : lacking(lacks));
  };
  worker.postMessage(name);
  return {
    send: (task) => worker.postMessage(task),
    end: () => {
      policy.leave();
      worker.terminate();
    },
  };
}

const lacking = (source: string): string => `the page's Content-Security-Policy lacks ${source}`;
