import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startGuarded } from "./guarded.mjs";

const workerFile = fileURLToPath(new URL("worker.mjs", import.meta.url));

const startTimeoutMs = 60_000;

/**
 * @typedef {object} Worker
 * @property {string} url
 * @property {import("./guarded.mjs").Guarded} process
 */

/**
 * @typedef {object} StartOptions
 * @property {string} config relative to the root
 * @property {string} [env] an environment of that configuration
 * @property {number} port
 * @property {string} state where local storage is kept
 * @property {string} scratch where the Workers of one run find each other; a folder of its own, or they find those of another run
 * @property {Readonly<Record<string, string>>} [vars]
 * @property {boolean} [mendsItself] see worker.mjs
 */

/**
 * Starts one Worker with wrangler, entirely local and without a word to anybody outside.
 *
 * @param {StartOptions} options
 * @returns {Worker}
 */
export function startWorker({ config, env, port, state, scratch, vars = {}, mendsItself = false }) {
  const registry = join(scratch, "registry");
  const process = startGuarded([workerFile], {
    KEYHOLE_WORKER: JSON.stringify({ config, env, port, state, registry, vars, mendsItself }),
    CI: "true",
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    WRANGLER_SEND_METRICS: "false",
    WRANGLER_SEND_ERROR_REPORTS: "false",
    WRANGLER_HIDE_BANNER: "true",
    WRANGLER_LOG_PATH: join(scratch, "logs"),
    WRANGLER_REGISTRY_PATH: registry,
    // It lets anybody who reaches the port read and write the log's database, files and values.
    X_LOCAL_EXPLORER: "false",
    // Halves the time of an RPC call.
    X_LOCAL_OBSERVABILITY: "false",
  });
  return { url: `http://127.0.0.1:${port}`, process };
}

/**
 * Waits until a Worker answers.
 *
 * @param {Worker} worker
 * @param {string} name for the message
 * @param {string} path that is asked
 */
export async function untilAnswering({ url, process }, name, path) {
  const deadline = Date.now() + startTimeoutMs;
  let ended = false;
  void process.exited.then(() => (ended = true));
  while (!(await isAnswering(url + path, 1_000))) {
    if (ended) throw new Error(`${name} ended while it started:\n${process.output()}`);
    if (Date.now() > deadline)
      throw new Error(`${name} did not start in ${startTimeoutMs / 1000} s:\n${process.output()}`);
    await delay(50);
  }
}

/**
 * @param {string} url
 * @param {number} timeoutMs
 */
export async function isAnswering(url, timeoutMs) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
