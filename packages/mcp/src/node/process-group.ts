import type { ChildProcess } from "node:child_process";

const GRACE_MS = 1_000;
const groups = new Set<number>();
const isPosix = process.platform !== "win32";

/** Kills what is left of all groups when this process ends by itself. */
function killAll(): void {
  for (const pid of groups) signal(pid, "SIGKILL");
}

/** A process that leads a group of its own: it ends with all that it started. */
export class ProcessGroup {
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;

  constructor(child: ChildProcess) {
    this.#child = child;
    this.#exited = new Promise((resolve) => child.once("exit", () => resolve()));
    const { pid } = child;
    if (pid === undefined) return;
    if (groups.size === 0) process.once("exit", killAll);
    groups.add(pid);
    // Processes that it started can outlive it, and have no parent then.
    void this.#exited.then(() => {
      signal(pid, "SIGKILL");
      groups.delete(pid);
      if (groups.size === 0) process.off("exit", killAll);
    });
  }

  /** Lets it end by itself when its stdin ends; asks it, and then ends it. */
  async end(): Promise<void> {
    const { pid, exitCode, signalCode, stdin } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    stdin?.end();
    for (const each of ["SIGTERM", "SIGKILL"] as const) {
      if (await this.#ends(GRACE_MS)) return;
      signal(pid, each);
    }
    await this.#exited;
  }

  /** At once: for one that did wrong. */
  kill(): void {
    if (this.#child.pid !== undefined) signal(this.#child.pid, "SIGKILL");
  }

  #ends(withinMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), withinMs);
      void this.#exited.then(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(isPosix ? -pid : pid, name);
  } catch {
    // It is gone.
  }
}
