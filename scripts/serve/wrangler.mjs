import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { root } from "../project.mjs";
import { startGuarded } from "./guarded.mjs";

/** wrangler's program itself: `npx` and `.bin/wrangler` would stand between us and its children. */
const wranglerFile = join(root, "node_modules", "wrangler", "bin", "wrangler.js");

const startTimeoutMs = 60_000;

/**
 * @typedef {object} Worker
 * @property {string} url
 * @property {import("./guarded.mjs").Guarded} process
 */

/**
 * Starts one Worker with `wrangler dev`, entirely local and without a word to anybody outside.
 *
 * @param {object} options
 * @param {string} options.config relative to the root
 * @param {string} [options.env] an environment of that configuration
 * @param {number} options.port
 * @param {string} options.state where local storage is kept
 * @param {string} options.scratch where the Workers of one run find each other; a folder of its own, or they find those of another run
 * @param {Readonly<Record<string, string>>} [options.vars]
 * @returns {Worker}
 */
export function startWorker({ config, env, port, state, scratch, vars = {} }) {
  const args = ["dev", "--config", config, "--ip", "127.0.0.1", "--port", String(port), "--inspector-port", "0"];
  args.push("--persist-to", state, "--log-level", "warn", "--show-interactive-dev-session=false");
  if (env !== undefined) args.push("--env", env);
  for (const [name, value] of Object.entries(vars)) args.push("--var", `${name}:${value}`);
  const process = startGuarded([wranglerFile, ...args], {
    CI: "true",
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    WRANGLER_SEND_METRICS: "false",
    WRANGLER_SEND_ERROR_REPORTS: "false",
    WRANGLER_HIDE_BANNER: "true",
    WRANGLER_LOG_PATH: join(scratch, "logs"),
    WRANGLER_REGISTRY_PATH: join(scratch, "registry"),
    // Halves the time of an RPC call.
    X_LOCAL_OBSERVABILITY: "false",
  });
  return { url: `http://127.0.0.1:${port}`, process };
}

/**
 * Waits until a Worker answers its health check.
 *
 * @param {Worker} worker
 * @param {string} name for the message
 */
export async function untilHealthy({ url, process }, name) {
  const deadline = Date.now() + startTimeoutMs;
  let ended = false;
  void process.exited.then(() => (ended = true));
  while (!(await isHealthy(url, 1_000))) {
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
export async function isHealthy(url, timeoutMs) {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(timeoutMs) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
