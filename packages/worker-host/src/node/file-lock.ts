import { closeSync, openSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";

/** Thrown where another sink has the log file open: a log has one writer. */
export class LogInUse extends Error {
  /** Of the process that has it open. `undefined` where that process could not write it down. */
  readonly pid: number | undefined;

  constructor(path: string, pid: number | undefined) {
    const holder = pid === undefined ? "Another process" : pid === process.pid ? "This process" : `Process ${pid}`;
    super(`${holder} has the log ${path} open. Close that log first, or name another file.`);
    this.name = "LogInUse";
    this.pid = pid;
  }
}

export interface FileLock {
  release(): void;
}

/** Until released: the garbage collector would close a lock that only a sink holds. */
const held = new Set<object>();

/**
 * Takes the lock of a log file. SQLite locks the empty file `PATH.lock` by the operating system, which frees it when the process ends, however it ends. So the file that
 * stays behind locks nothing. `PATH.pid` names the holder for messages alone. Both stand beside the file itself, whichever link leads to it.
 *
 * @param path of a file that is there
 * @throws {LogInUse} where another sink has it, also one of this process
 */
export function lockFile(path: string): FileLock {
  const file = realpathSync(path);
  const database = locked(file);
  try {
    // Removed first: the holder's number must never reach another file through a link.
    rmSync(`${file}.pid`, { force: true });
    writeFileSync(`${file}.pid`, `${process.pid}\n`, { mode: 0o600, flag: "wx" });
  } catch {
    // Only messages need it. A full disk shows at the first event.
  }
  held.add(database);
  return {
    release() {
      held.delete(database);
      database.close();
    },
  };
}

const busy = 5;
const notADatabase = 26;

function locked(file: string): { close(): void } {
  const lock = `${file}.lock`;
  // Not imported: a Node without it would name the module and nothing else.
  const sqlite = process.getBuiltinModule("node:sqlite") as typeof import("node:sqlite") | undefined;
  if (!sqlite) throw new Error("A log file needs `node:sqlite` for its lock. Use Node 22.13 or newer.");
  let database: import("node:sqlite").DatabaseSync | undefined;
  try {
    makePrivate(lock);
    database = new sqlite.DatabaseSync(lock, { timeout: 0 });
    // It writes nothing, so a crash leaves nothing behind.
    database.exec("BEGIN IMMEDIATE");
    return database;
  } catch (error) {
    database?.close();
    const code: unknown = error instanceof Error ? Reflect.get(error, "errcode") : undefined;
    if (code === busy) throw new LogInUse(file, pidIn(`${file}.pid`));
    const why = error instanceof Error ? error.message : String(error);
    const next = code === notADatabase ? "Remove it" : "Make its folder writable";
    throw new Error(`The lock ${lock} cannot be taken: ${why}. ${next}, and start again.`, { cause: error });
  }
}

/** Another user could hold a lock of a file that they can read. A file that is there stays closed: closing it would free the lock of this process. */
function makePrivate(lock: string): void {
  try {
    closeSync(openSync(lock, "wx", 0o600));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}

function pidIn(path: string): number | undefined {
  try {
    const text = readFileSync(path, "utf8");
    return /^[1-9]\d{0,9}\n$/.test(text) ? Number(text) : undefined;
  } catch {
    return undefined;
  }
}
