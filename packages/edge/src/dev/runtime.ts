import { AsyncLocalStorage } from "node:async_hooks";
import type { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Keeper } from "./keeper.ts";
import { computedMs } from "./process-time.ts";
import { silently } from "./signals.ts";
import type { Worker } from "./worker.ts";
import type { Miniflare, MiniflareModule } from "./wrangler.ts";

/** How long a runtime may take. */
export interface RuntimeTimes {
  /** One whose starts fail for so long has a reason that the next start does not change. */
  readonly giveUpMs: number;
  /** The time for a start on a busy machine, in ms. It doubles each time that it was not enough: only a failure is a reason to give up. */
  readonly startMs: number;
  readonly longestStartMs: number;
}

const usualTimes: RuntimeTimes = { giveUpMs: 60_000, startMs: 30_000, longestStartMs: 240_000 };
/** Between two starts: a reason that passes is tried again soon, another one does not fill the machine. */
const pauses = { firstMs: 20, mostMs: 2_000 };
/** The longest wait for the process of an instance that ends. */
const disposeMs = 5_000;
/** Lines of output for the message of a failure. */
const keptLines = 40;

export interface RuntimeOptions {
  /** As a sentence begins with it. */
  readonly name: string;
  readonly worker: Worker;
  readonly miniflare: MiniflareModule;
  readonly keeper: Pick<Keeper, "hold" | "release">;
  /** 0: any, and another one after each start. */
  readonly port: number;
  /** The folder of the storage. */
  readonly state: string;
  /** Where the Workers of one run find each other. */
  readonly registry: string;
  /** A folder that the caller removes. Miniflare does not wait until its own files are removed. */
  readonly scratch: string;
  /** The output of the Worker. */
  readonly onLine?: ((line: string) => void) | undefined;
  /** Called when it does not come back. */
  readonly onLost: (reason: string) => void;
  /** Default: a minute of failures, and half a minute for a start. */
  readonly times?: RuntimeTimes;
}

/** A start of which nothing is known yet, but that it takes long. */
class LateStart extends Error {
  constructor(ms: number) {
    super(`It did not start within ${ms / 1_000} s.`);
    this.name = "LateStart";
  }
}

/** The listener for processes that an instance starts: Miniflare names none. */
const starting = new AsyncLocalStorage<(child: ChildProcess) => void>();
subscribe("child_process", (message) => {
  starting.getStore()?.((message as { readonly process: ChildProcess }).process);
});

/**
 * One Worker in a workerd of its own, which is started again when it ends, on the same port and state. Each start is a new instance of Miniflare: one that starts its
 * own runtime again leaves it without a way to the other Workers.
 */
export class Runtime {
  readonly #options: RuntimeOptions;
  readonly #lines: string[] = [];
  #instance: Miniflare | undefined;
  #ended = Promise.withResolvers<void>();
  #process: ChildProcess | undefined;
  #url = "";
  #running: Promise<void> | undefined;
  #stopped = false;
  readonly #times: RuntimeTimes;

  constructor(options: RuntimeOptions) {
    this.#options = options;
    this.#times = options.times ?? usualTimes;
  }

  /** Of the Worker itself; another one after each start where the port is 0. */
  get url(): string {
    return this.#url;
  }

  /** Of the runtime; `undefined` while none runs. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  get computedMs(): number | undefined {
    return this.pid === undefined ? undefined : computedMs(this.pid);
  }

  /** Resolves when it runs. @throws {Error} with what it printed, where it does not: the first start is not tried again */
  async start(): Promise<void> {
    try {
      await this.#open(this.#times.startMs);
    } catch (error) {
      throw new Error(`${this.#options.name} did not start: ${this.#reason(error)}`, { cause: error });
    }
    void this.#keep();
  }

  /** Ends the runtime, and resolves when the next one runs. */
  async restart(): Promise<void> {
    if (this.#process) {
      this.#process.kill("SIGKILL");
      await this.#ended.promise;
    }
    await this.#running;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#close();
    await this.#running;
  }

  async #keep(): Promise<void> {
    while (!this.#stopped) {
      await this.#ended.promise;
      if (this.#stopped) return;
      const running = this.#openAgain();
      this.#running = running;
      await running;
    }
  }

  async #openAgain(): Promise<void> {
    const { giveUpMs, startMs, longestStartMs } = this.#times;
    let giveUpAtMs = Date.now() + giveUpMs;
    let patienceMs = startMs;
    for (let pauseMs = pauses.firstMs; !this.#stopped; pauseMs = Math.min(2 * pauseMs, pauses.mostMs)) {
      try {
        return await this.#open(patienceMs);
      } catch (error) {
        if (error instanceof LateStart) {
          patienceMs = Math.min(2 * patienceMs, longestStartMs);
          giveUpAtMs = Date.now() + giveUpMs;
        } else if (!this.#stopped && Date.now() > giveUpAtMs) {
          this.#stopped = true;
          return this.#options.onLost(`${this.#options.name} does not come back: ${this.#reason(error)}`);
        }
        await delay(pauseMs);
      }
    }
  }

  async #open(patienceMs: number): Promise<void> {
    await this.#close();
    if (this.#stopped) return;
    const ended = Promise.withResolvers<void>();
    this.#ended = ended;
    const instance: Miniflare = starting.run(
      (child) => this.#adopt(child, ended.resolve, () => instance),
      () => silently(() => this.#create()),
    );
    this.#instance = instance;
    let isEnded = false;
    void ended.promise.then(() => (isEnded = true));
    const late = new AbortController();
    try {
      const opened = instance.unsafeGetDirectURL();
      opened.catch(() => {});
      // An instance whose runtime ends while it starts can wait for it without end.
      const url = await Promise.race([opened, ended.promise, delay(patienceMs, undefined, { signal: late.signal })]);
      if (!url) throw isEnded ? new Error("It ended while it started.") : new LateStart(patienceMs);
      this.#url = url.origin;
    } finally {
      late.abort();
    }
  }

  #create(): Miniflare {
    const { worker, miniflare, port, state, registry, scratch, onLine } = this.#options;
    // The earlier owner of this name was killed without a word: no other process could take its place for some minutes.
    rmSync(join(registry, worker.name), { force: true });
    const { Miniflare: Instance, Log, convertV4MiniflareOptions } = miniflare;
    const options = (): object =>
      convertV4MiniflareOptions({
        ...worker.options,
        name: worker.name,
        // Without Miniflare's own Worker in front, which answers faults of the way with a stack.
        unsafeDirectSockets: [{ host: "127.0.0.1", port }],
        host: "127.0.0.1",
        port: 0,
        resourcePersistencePath: state,
        unsafeDevRegistryPath: registry,
        log: new Log(0),
        handleStructuredLogs: ({ message }: { readonly message: string }) => {
          this.#lines.push(message);
          this.#lines.splice(0, this.#lines.length - keptLines);
          onLine?.(message);
        },
        logRequests: false,
        // No message to other services.
        cf: false,
        telemetry: { enabled: false },
        // Every client that reaches the port could read and write the log's database, files and values.
        unsafeLocalExplorer: false,
        unsafeObservability: false,
      });
    return withTemporaryFolder(scratch, () => new Instance(options()));
  }

  #adopt(child: ChildProcess, ended: () => void, instance: () => Miniflare): void {
    const { keeper } = this.#options;
    child.once("spawn", () => {
      if (child.pid !== undefined) keeper.hold(child.pid);
      this.#process = child;
    });
    child.once("exit", () => {
      if (child.pid !== undefined) keeper.release(child.pid);
      if (this.#process === child) this.#process = undefined;
      // In this turn: in the next one the instance would start a runtime by itself.
      // Its own alone: another one may be there already, where this process took long to end.
      void this.#close(instance());
      ended();
    });
  }

  /** Ends the instance in every state. Idempotent, and never rejects. */
  async #close(instance: Miniflare | undefined = this.#instance): Promise<void> {
    if (!instance) return;
    const closed = instance.dispose().catch(() => {});
    await Promise.race([closed, delay(disposeMs, undefined, { ref: false })]);
    if (this.#instance === instance) this.#instance = undefined;
  }

  #reason(error: unknown): string {
    return [error instanceof Error ? error.message : String(error), ...this.#lines].join("\n");
  }
}

/** Makes something that looks up the folder of temporary files at once. */
function withTemporaryFolder<Made>(folder: string, make: () => Made): Made {
  const name = process.platform === "win32" ? "TEMP" : "TMPDIR";
  const before = process.env[name];
  process.env[name] = folder;
  try {
    return make();
  } finally {
    if (before === undefined) delete process.env[name];
    else process.env[name] = before;
  }
}
