import { type ChildProcess, spawn } from "node:child_process";

/** Runs in a Node of its own. A line `+1` names a process that ends with us, `-1` one that has ended. */
const program = `
const held = new Set();
let rest = "";
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
process.stdin.setEncoding("utf8").on("data", (text) => {
  const lines = (rest + text).split("\\n");
  rest = lines.pop();
  for (const line of lines) line[0] === "+" ? held.add(Number(line.slice(1))) : held.delete(Number(line.slice(1)));
});
process.stdin.on("close", () => {
  for (const pid of held) try { process.kill(pid, "SIGKILL"); } catch {}
});
`;

/**
 * Ends processes with this one, however it ends. workerd does not notice the end of who started it, and nobody hears of a SIGKILL: so another process waits for the end
 * of a pipe that only this one holds open.
 */
export class Keeper {
  readonly #held = new Set<number>();
  #process: ChildProcess;
  #stopped = false;

  constructor() {
    this.#process = this.#start();
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  hold(pid: number): void {
    this.#held.add(pid);
    this.#tell(`+${pid}`);
  }

  /** It has ended; its number may soon be that of another process. */
  release(pid: number): void {
    this.#held.delete(pid);
    this.#tell(`-${pid}`);
  }

  /** Ends the held calls. */
  async stop(): Promise<void> {
    this.#stopped = true;
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    this.#process.stdin?.end();
    await ended;
  }

  #start(): ChildProcess {
    const child = spawn(process.execPath, ["--eval", program], {
      // A group of its own: an interrupt from the terminal reaches us alone, and we end in order.
      detached: true,
      env: {},
      stdio: ["pipe", "ignore", "ignore"],
      windowsHide: true,
    });
    child.stdin?.on("error", () => {}); // It has ended; see below.
    child.on("error", () => {});
    child.once("exit", () => {
      if (this.#stopped) return;
      this.#process = this.#start();
      for (const pid of this.#held) this.#tell(`+${pid}`);
    });
    return child;
  }

  #tell(line: string): void {
    this.#process.stdin?.write(`${line}\n`);
  }
}
