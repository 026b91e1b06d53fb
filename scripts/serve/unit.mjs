import { setTimeout as delay } from "node:timers/promises";
import { isFree } from "./ports.mjs";
import { descendants } from "./processes.mjs";
import { isAnswering, startWorker, untilAnswering } from "./wrangler.mjs";

/** A Worker that does not start so many times in a row has a reason that the next start does not change. */
const maxStarts = 5;
/** How long a runtime may take that is started again. */
const recoveryMs = 15_000;

/**
 * @typedef {object} UnitOptions
 * @property {string} name as a sentence begins with it
 * @property {import("./wrangler.mjs").StartOptions} start
 * @property {string} alive the path that answers for as long as the Worker itself runs, whatever it needs besides
 * @property {(reason: string) => void} onLost called when it does not come back
 */

/**
 * One Worker of the edge with all of its processes: wrangler in Node, the runtime, and the proxy that holds the port in front of it. wrangler starts each that dies
 * again, but not what they knew: a proxy waits for ever to be told where its runtime is, and a runtime has lost its way to other Workers. So its process ends
 * with them (see worker.mjs), and all of it is started again here, on the same port and state.
 */
export class Unit {
  /** @readonly @type {UnitOptions} */
  #options;
  /** @type {import("./wrangler.mjs").Worker} */
  #worker;
  /** @type {Promise<void> | undefined} */
  #starting;
  #keeps = false;
  #stopped = false;
  #runtimeKills = 0;

  /** @param {UnitOptions} options */
  constructor(options) {
    this.#options = options;
    this.#worker = this.#start();
  }

  get url() {
    return this.#worker.url;
  }

  get process() {
    return this.#worker.process;
  }

  /** How many runtimes `restartRuntime` has ended. */
  get runtimeKills() {
    return this.#runtimeKills;
  }

  /** Resolves when it answers; rejects with the reason why it does not. */
  async ready() {
    await untilAnswering(this.#worker, this.#options.name, this.#options.alive);
  }

  /** From now on it is started again when it ends. */
  keep() {
    this.#keeps = true;
  }

  /** Ends the runtime and waits for the next one, and leaves the proxy in front of it that holds the port. */
  async restartRuntime() {
    const front = `:${new URL(this.url).port} `;
    for (const { pid, command } of descendants(this.#worker.process.pid)) {
      if (!/workerd\S* serve /.test(command) || command.includes(front)) continue;
      try {
        process.kill(pid, "SIGKILL");
        this.#runtimeKills++;
      } catch {
        // It ended by itself.
      }
    }
    const giveUpAt = Date.now() + recoveryMs;
    while (!this.#stopped && !(await isAnswering(this.url + this.#options.alive, 500))) {
      if (Date.now() > giveUpAt) return this.restart();
      await delay(25);
    }
  }

  /** Starts all of it again. */
  async restart() {
    this.#starting ??= this.#startAgain().finally(() => (this.#starting = undefined));
    await this.#starting;
  }

  async stop() {
    this.#stopped = true;
    await this.#worker.process.stop();
    await this.#starting;
  }

  #start() {
    const worker = startWorker(this.#options.start);
    void worker.process.exited.then(() => {
      if (this.#keeps && !this.#stopped && worker === this.#worker) void this.restart();
    });
    return worker;
  }

  /** wrangler would take another port. Where somebody else has it by now, the start says so. */
  async #portFree() {
    const giveUpAt = Date.now() + recoveryMs;
    while (!this.#stopped && Date.now() < giveUpAt && !(await isFree(this.#options.start.port))) await delay(50);
  }

  async #startAgain() {
    for (let start = 1; !this.#stopped; start++) {
      await this.#worker.process.kill();
      await this.#portFree();
      if (this.#stopped) return;
      this.#worker = this.#start();
      try {
        return await this.ready();
      } catch (error) {
        if (start === maxStarts && !this.#stopped)
          return this.#options.onLost(error instanceof Error ? error.message : String(error));
      }
    }
  }
}
