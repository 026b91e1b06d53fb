import { knownOptions } from "@keyhole/kernel/foreign";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Keeper } from "./keeper.ts";
import { watchKernel } from "./kernel-watch.ts";
import { untilReady } from "./readiness.ts";
import { Runtime } from "./runtime.ts";
import { localTokens } from "./tokens.ts";
import { startWatchdog } from "./watchdog.ts";
import { loadWrangler } from "./wrangler.ts";
import {
  configuredWorker,
  sandboxWorkers,
  variable,
  withSandboxes,
  withVariables,
  type Worker,
  type WorkerSource,
} from "./worker.ts";

export interface EdgeOptions extends WorkerSource {
  /** Of the loopback address. */
  readonly port: number;
  /** May do everything, where the configuration sets no `KEYHOLE_TOKENS`. */
  readonly token?: string | undefined;
  /** Answers on the approval pages of `/mcp`, likewise. */
  readonly approvalKey?: string | undefined;
  /** Where log and files are kept; without it they go with the edge. */
  readonly state?: string | undefined;
  /** Each line that kernel or sandbox prints. */
  readonly onLine?: ((line: string) => void) | undefined;
}

const known = {
  port: 0,
  token: true,
  approvalKey: true,
  state: true,
  onLine: true,
  config: true,
  environment: true,
  vars: true,
} as const;

/** A kernel with its sandbox, on this machine. */
export interface Edge {
  /** Of the kernel. */
  readonly url: string;
  /** The given one, where it counts. */
  readonly token: string | undefined;
  /** Resolves with the reason when a part ended and does not come back. */
  readonly failed: Promise<string>;
  /** How often the watchdog had to end a sandbox. */
  readonly sandboxKills: number;
  /** The processes that run now. */
  readonly pids: {
    readonly kernel: number | undefined;
    readonly sandboxes: readonly (number | undefined)[];
    readonly keeper: number | undefined;
  };
  /** Starts the kernel again, with its Worker as the files are now. Calls that run are lost; log and files stay. */
  reload(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a Worker of {@link gatewayWorker} and {@link kernelObject} with its tools in sandboxes: processes of their own beside the kernel's, which a watchdog in this one ends
 * when a tool spins. The watch restarts each that ends. Resolves when calls are served.
 *
 * @throws {Error} with the reason why it does not start
 * @example
 * const edge = await startEdge({ config: "wrangler.toml", port: 8787 });
 */
export async function startEdge(options: EdgeOptions): Promise<Edge> {
  const { port, state, onLine, token, approvalKey, ...source } = knownOptions(options, known, "startEdge");
  const wrangler = await loadWrangler();
  const { miniflare } = wrangler;
  const { worker, isOpened } = openedBy(token, approvalKey, configuredWorker(wrangler, source));
  const isReached = variable(worker, "KEYHOLE_URL") !== undefined;
  const { scratch, forget } = scratchFolder();
  const keeper = new Keeper();
  const { promise: failed, resolve: onLost } = Promise.withResolvers<string>();
  const around = { miniflare, keeper, registry: join(scratch, "registry"), scratch, onLine, onLost };
  // Two workerd on one storage folder lock each other out; a sandbox keeps nothing anyway.
  const sandboxes = sandboxWorkers().map(
    (each) => new Runtime({ ...around, name: "A sandbox", worker: each, port: 0, state: join(scratch, each.name) }),
  );
  const watchdog = await startWatchdog(sandboxes);
  const kernel = new Runtime({
    ...around,
    name: "The kernel",
    worker: withVariables(withSandboxes(worker), {
      KEYHOLE_WATCHDOG: watchdog.url,
      ...(!isReached && { KEYHOLE_URL: `http://127.0.0.1:${port}` }),
    }),
    port,
    state: state ?? join(scratch, "kernel"),
  });
  let endWatch = (): void => {};
  const stop = async (): Promise<void> => {
    endWatch();
    await watchdog.stop();
    await Promise.all([kernel, ...sandboxes].map((each) => each.stop()));
    await keeper.stop();
    forget();
  };
  try {
    await Promise.all([kernel, ...sandboxes].map((each) => each.start()));
    await untilReady(kernel.url);
  } catch (error) {
    await stop();
    throw error;
  }
  watchdog.watch();
  endWatch = watchKernel(kernel, sandboxes);
  return {
    url: kernel.url,
    token: isOpened ? token : undefined,
    failed,
    get sandboxKills() {
      return watchdog.kills;
    },
    get pids() {
      return { kernel: kernel.pid, sandboxes: sandboxes.map(({ pid }) => pid), keeper: keeper.pid };
    },
    async reload() {
      await kernel.restart();
      await untilReady(kernel.url);
    },
    stop,
  };
}

/** A folder that this process removes at the latest when it ends: an interrupt can come before there is an edge to stop. */
function scratchFolder(): { readonly scratch: string; readonly forget: () => void } {
  const scratch = mkdtempSync(join(tmpdir(), "keyhole-"));
  const forget = (): void => rmSync(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  process.once("exit", () => {
    try {
      forget();
    } catch {
      // A process that the keeper is about to end can still write.
    }
  });
  return { scratch, forget };
}

/** @param token counts where the Worker has no others */
function openedBy(
  token: string | undefined,
  approvalKey: string | undefined,
  worker: Worker,
): { readonly worker: Worker; readonly isOpened: boolean } {
  if (token === undefined || variable(worker, "KEYHOLE_TOKENS")) return { worker, isOpened: false };
  return { worker: withVariables(worker, { KEYHOLE_TOKENS: localTokens(token, approvalKey) }), isOpened: true };
}
