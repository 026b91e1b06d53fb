import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterwards } from "../mcp/support.ts";
import type { KernelErrand } from "./nats-kernel.ts";

const program = fileURLToPath(new URL("nats-kernel.ts", import.meta.url));

/** Kernels in processes of their own: each owns its share of the keys, and finds its log again. */
export class KernelProcesses {
  readonly #url: string;
  readonly #folder: string;
  readonly #callers: number;
  readonly #processes: (ChildProcess | undefined)[];

  private constructor(url: string, folder: string, count: number, callers: number) {
    this.#url = url;
    this.#folder = folder;
    this.#callers = callers;
    this.#processes = Array.from({ length: count }, () => undefined);
  }

  /** Ends after the test. */
  static async open(url: string, count: number, callers: number): Promise<KernelProcesses> {
    const kernels = new KernelProcesses(url, await mkdtemp(join(tmpdir(), "keyhole-bus-")), count, callers);
    afterwards(() => kernels.#end());
    await Promise.all(kernels.#processes.map((_, index) => kernels.start(index)));
    return kernels;
  }

  /** Resolves when it serves. */
  async start(index: number): Promise<void> {
    const of = this.#processes.length;
    const errand: KernelErrand = { url: this.#url, folder: this.#folder, index, of, callers: this.#callers };
    const started = spawn(process.execPath, ["--conditions=keyhole-source", program, JSON.stringify(errand)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#processes[index] = started;
    const [first] = (await Promise.race([once(started.stdout, "data"), once(started, "exit")])) as [unknown];
    if (!String(first).includes("serves")) throw new Error(`The kernel ${index} did not start.`);
  }

  async kill(index: number): Promise<void> {
    this.#processes[index]?.kill("SIGKILL");
    await this.died(index);
  }

  async died(index: number): Promise<void> {
    const died = this.#processes[index];
    if (died && died.exitCode === null && died.signalCode === null) await once(died, "exit");
  }

  /** How often each id was paid. */
  async deeds(): Promise<ReadonlyMap<string, number>> {
    const ids = (await readFile(join(this.#folder, "deeds"), "utf8")).trim().split("\n");
    const counts = new Map<string, number>();
    for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
    return counts;
  }

  async #end(): Promise<void> {
    await Promise.all(this.#processes.map((_, index) => this.kill(index)));
    await rm(this.#folder, { recursive: true });
  }
}
