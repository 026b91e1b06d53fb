import { spawn } from "node:child_process";
import { resolve } from "node:path";
import type { SqlAnswer, SqlDatabase } from "../brokers/sql/database.ts";
import { type Engine, type EngineEvents, remoteDatabase } from "../brokers/sql/remote.ts";
import program from "keyhole:./sql-child.ts?esm";

export interface NodeDatabase extends SqlDatabase {
  /** Ends the process that holds the file. A later statement starts another. */
  close(): void;
}

/**
 * A database in a file, served by `node:sqlite` in a process of its own: a statement that does not end is ended with the process, and what it had begun to
 * write is rolled back. `query` runs on a connection that was opened read-only. One statement runs at a time; those of several callers take turns.
 *
 * The process starts with the first statement, in about 100 ms, and ends with this one. It has no environment, may allocate 128 MiB for SQLite, and loads no
 * extensions.
 *
 * @param file made when it is missing; its folder has to exist
 */
export function nodeDatabase(file: string): NodeDatabase {
  const path = resolve(file);
  return remoteDatabase((events) => startProcess(path, events), { graceMs: 0, endsWithCall: true });
}

function startProcess(file: string, { message, ended }: EngineEvents): Engine {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program, "--", file], {
    env: {},
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    serialization: "advanced",
    windowsHide: true,
  });
  child.on("message", (answer: "ready" | SqlAnswer) => message(answer));
  child.on("exit", () => ended());
  child.on("error", () => ended());
  const channel = child.channel as { ref(): void; unref(): void } | null | undefined;
  const hold = (waits: boolean): void => {
    for (const each of [child, channel]) {
      if (waits) each?.ref();
      else each?.unref();
    }
  };
  hold(false);
  return {
    // An unsendable message gets no answer.
    send: (task) => void child.send(task, (error) => error && ended()),
    end: () => void child.kill("SIGKILL"),
    hold,
  };
}
